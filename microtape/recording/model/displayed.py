"""The base of what a notebook can display; the engine itself knows no notebooks."""


class Displayed:
    """A recording, or an object with a `recording`. Importing `viz` adds the method that notebooks ask for."""

    __slots__ = ()
