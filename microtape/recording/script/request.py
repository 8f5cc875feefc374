"""What `run.py` asks the process of the script to record, and the files through which the two talk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from microtape.recording.model.options import Check, Engine
from microtape.recording.script.program import Program


class Request(NamedTuple):
    """What to record. `folder` is a folder for the files named below."""

    program: Program
    out: str
    folder: str
    passes: str | None
    first: int
    last: int | None  # 0: up to the first backward(); None: all
    element_budget: int
    total_budget: int
    until: str | None
    every: int | None
    within: str | None
    engine: Engine | None  # None: the one whose backward runs first
    thread: str | None  # only the threads of this name
    check: Check | None
    search: float  # seconds to go on after the first backward(); 0: none
    hidden_output: str | None  # the file into which a script prints while it goes on; it then reads nothing
    quiet: bool  # what the script writes to standard output goes to standard error


REPORT = "report.json"  # how the script ended, or that its first pass is recorded and it goes on
ROOM = "room"  # bytes that the report takes: they are there before the script runs, and fills the disk
PROGRESS = "progress"  # how many passes it has run
STOP = "stop"  # if this file exists, the script is stopped at the end of its pass
RUNNING = "running"  # in the report, instead of how it ended

NOTHING: Mapping[str, object] = {
    "saved": False, "problem": None, "faults": [], "search": None, "kept_later": False,
    "ended": "finished", "error": None, "passes": 0, "complete": False, "failed": None, "reached": False,
}  # fmt: skip
"""A report of nothing that was recorded."""
