"""Looks for the first pass in which something is found that the first pass did not have."""

from __future__ import annotations

import os
from time import monotonic
from typing import Literal, TypeAlias

from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording
from microtape.recording.script.request import PROGRESS, STOP

_TELL = 0.1  # seconds between two reports of progress

SearchEnd: TypeAlias = Literal["found", "failed", "finished", "time over", "stopped", "killed"]
"""Why a search ended. "failed": the script raised; "stopped": we were asked to; "killed": the script did not yield."""


class Search:
    """A search, from the end of the first pass on. `first` is the recording of that pass."""

    def __init__(self, first: Recording, seconds: float, folder: str) -> None:
        known = _serious(first)
        self.found_an_error = any(one.severity == "error" for one in known)
        self._known = {_identity(one, first) for one in known}
        self._known_notices = {_identity(one, first) for one in findings(first)}
        self._has_a_notice = False
        self._over = monotonic() + seconds
        self._told = 0.0
        self._folder = folder
        self._asked_by = os.getppid()

    def finds(self, recording: Recording) -> bool:
        """Whether something is wrong in this recording that was not wrong in the first pass."""
        return any(_identity(one, recording) not in self._known for one in _serious(recording))

    def finds_a_notice(self, recording: Recording) -> bool:
        """Whether this is the first recording with a notice that the first pass did not have."""
        if self._has_a_notice:
            return False
        self._has_a_notice = any(_identity(one, recording) not in self._known_notices for one in findings(recording))
        return self._has_a_notice

    def over(self, passes: int) -> SearchEnd | None:
        """Why the search ends now, after so many passes; None if it goes on."""
        now = monotonic()
        if os.path.exists(os.path.join(self._folder, STOP)) or os.getppid() != self._asked_by:
            return "stopped"
        if now >= self._over:
            return "time over"
        if now - self._told >= _TELL:
            self._told = now
            with open(os.path.join(self._folder, PROGRESS), "w", encoding="ascii") as file:
                file.write(str(passes))
        return None


def _serious(recording: Recording) -> list[Finding]:
    """The findings that the program's author cannot have wanted."""
    return [one for one in findings(recording) if one.severity != "notice"]


def _identity(one: Finding, recording: Recording) -> object:
    """Equal for the same fault in two passes, which share leaves but no results."""
    leaf = one.tensor if one.tensor is not None and recording.tensors[one.tensor].is_leaf else None
    return one.kind, one.place, leaf
