"""Opens many damaged files in one process, and counts what comes of them."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field

from tests.mutations.judge import judge
from tests.mutations.mutants import Mutants

try:
    import resource
except ImportError:  # Windows, where memory is neither limited nor measured
    resource = None  # type: ignore[assignment]

MEMORY = 1_500_000_000  # bytes of address space, of which the libraries take half a billion


@dataclass
class Count:
    """What came of some files."""

    refused: Counter[str] = field(default_factory=Counter)
    files: int = 0
    opened: int = 0
    faults: int = 0
    largest: int = 0  # bytes
    slowest: float = 0.0  # seconds of processor time
    before: int = 0  # MB
    peak: int = 0

    def add(self, other: Count) -> None:
        """Add what came of other files."""
        self.refused += other.refused
        self.files += other.files
        self.opened += other.opened
        self.faults += other.faults
        self.largest = max(self.largest, other.largest)
        self.slowest = max(self.slowest, other.slowest)
        self.before = max(self.before, other.before)
        self.peak = max(self.peak, other.peak)


def judged(numbers: range) -> Count:
    """Open the files with these numbers; faults are printed. Runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one tells what was counted
    warnings.simplefilter("error")  # a warning would be printed to the user
    mutants = Mutants()
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no such limit, or it cannot be set
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    count = Count(before=_peak())
    for number in numbers:
        count.files += 1
        data = mutants.mutant(number)
        count.largest = max(count.largest, len(data))
        began = time.process_time()
        try:
            message = judge(data)
        except Exception:
            count.faults += 1
            print(f"number {number}:\n{traceback.format_exc()}", flush=True)
            continue
        finally:
            count.slowest = max(count.slowest, time.process_time() - began)
        count.opened += message is None
        if message is not None:
            count.refused[re.sub(r"[-\d,.]+", "N", message)[:60]] += 1
    count.peak = _peak()
    return count


def _peak() -> int:
    """The most memory that the process has had, in MB; 0 if it is not known."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1_048_576)
