"""The widgets: they show state and post messages, and never read a database or a network."""
