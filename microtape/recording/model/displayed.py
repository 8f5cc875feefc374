"""The base of what a notebook can display; the engine itself knows no notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording


class Displayed:
    """A recording, or an object with a `recording`. Importing `viz` adds the method that notebooks ask for."""

    __slots__ = ()


def recording_of(displayed: Displayed) -> Recording:
    """The recording itself, or that of a recorder."""
    found: Any = displayed
    return getattr(found, "recording", found)  # type: ignore[no-any-return]
