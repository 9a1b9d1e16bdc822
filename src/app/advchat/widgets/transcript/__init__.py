"""The transcript: a virtualised view of a conversation's turns."""

from advchat.widgets.transcript.transcript import Transcript

__all__ = ["Transcript"]
