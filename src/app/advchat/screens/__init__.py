"""The screens: each mediates between its widgets and the controller."""
