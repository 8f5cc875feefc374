"""Calls of the user's functions by the engine: forward and backward of Functions, hooks, recomputations."""

from __future__ import annotations

from microtape.recording.model.model import CallRecord, FunctionRecord


class Calls:
    """The calls of one segment, and what the Functions among them promised."""

    def __init__(self) -> None:
        self.functions: list[FunctionRecord] = []

    def records(self) -> tuple[CallRecord, ...]:
        """The records of all calls, those included that have not ended."""
        return ()
