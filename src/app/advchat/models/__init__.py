"""The models an agent can be driven with; the only package beside the runner that names the SDK."""
