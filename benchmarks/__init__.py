"""Measurements of the program, each a command of its own: ``python -m benchmarks.NAME``."""
