"""The errors of drawing. Every message is one line, written for the user."""

from __future__ import annotations


class DrawError(RuntimeError):
    """A picture cannot be drawn as asked. The message says why and what to do instead."""


class TooLargeError(DrawError):
    """The graph has more nodes than a readable picture can hold."""


class GraphvizError(DrawError):
    """Graphviz is missing, failed, or took too long. DOT and text need no Graphviz and still work."""


class SmallTextWarning(UserWarning):
    """The text of a picture that should fit somewhere cannot be read there."""
