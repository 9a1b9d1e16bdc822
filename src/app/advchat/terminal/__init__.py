"""The edge to the terminal: what comes in, what goes out, and its going away."""
