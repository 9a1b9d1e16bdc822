"""What every test may ask for."""

from tests.server.fixtures import model_server

__all__ = ["model_server"]
