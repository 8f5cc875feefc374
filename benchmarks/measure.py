"""Side-by-side timing: every round runs all engines in sequence, and ratios are taken within a round.

Times are processor time of this process, on its one thread, so that other load on the machine matters as little as
possible.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.engines import Engine, MissingError
from benchmarks.workloads import Array, Run, Workload

OURS = "microtape"


class DifferentError(Exception):
    """Two engines compute different gradients: comparing their times would be meaningless."""


@dataclass(frozen=True)
class Ratio:
    """Our time over a peer's: the median over the rounds, and the quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """The measurements of one workload."""

    workload: Workload
    seconds: Mapping[str, float]  # the median time of one run, by engine
    ratios: Mapping[str, Ratio]  # by peer
    skipped: Mapping[str, str]  # peers that could not run it, and why

    @property
    def missed(self) -> list[str]:
        """The peers for which the target was missed."""
        return [name for name, target in self.workload.targets.items() if self.over(name, target)]

    def over(self, name: str, target: float) -> bool:
        """Whether the ratio to this peer was measured and is above the target."""
        return name in self.ratios and round(self.ratios[name].median, 2) > target

    @property
    def overhead(self) -> float | None:
        """Microseconds per operation beyond hand-written numpy; None for workloads without a number of operations."""
        count = self.workload.operations
        if not count or "numpy" not in self.seconds or OURS not in self.seconds:
            return None
        return 1e6 * (self.seconds[OURS] - self.seconds["numpy"]) / count


def run_workload(workload: Workload, engines: Mapping[str, Engine], rounds: int, block: float) -> Result:
    """Compare the gradients of all engines that can run the workload, then time them."""
    runs: dict[str, Run] = {}
    skipped: dict[str, str] = {}
    expected: list[Array] | None = None
    for name, engine in engines.items():
        if name not in ("numpy", "formulas", OURS, *workload.peers):
            continue
        try:
            runs[name] = engine.prepare(workload)
        except MissingError as error:
            skipped[name] = str(error)
            continue
        gradients = engine.arrays(runs[name]())
        expected = expected or gradients
        compare(f"{workload.name}: {name}", gradients, expected, workload.tolerance)
    with _modules_set_aside():
        times = interleaved(runs, rounds, block)
    seconds = {name: float(np.median(column)) for name, column in times.items()}
    return Result(workload, seconds, ratios(times, OURS), skipped)


def compare(what: str, gradients: Sequence[Array], expected: Sequence[Array], tolerance: float) -> None:
    """Raise DifferentError if two engines' gradients differ by more than rounding."""
    for i, (gradient, wanted) in enumerate(zip(gradients, expected, strict=True)):
        largest = float(np.max(np.abs(wanted), initial=1e-6))
        if np.shape(gradient) != np.shape(wanted) or not np.all(np.abs(gradient - wanted) <= tolerance * largest):
            raise DifferentError(f"{what} has another gradient for parameter {i}")


def interleaved(runs: Mapping[str, Callable[[], Any]], rounds: int, block: float) -> dict[str, list[float]]:
    """The seconds of one run of each, in each of `rounds` rounds. A timing covers about `block` seconds of runs.

    Every other round has the opposite order, so that none always comes first.
    """
    counts = {name: _repetitions(run, block) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    for _ in range(rounds):
        for name in order:
            run, count = runs[name], counts[name]
            start = process_time()
            for _ in range(count):
                run()
            times[name].append((process_time() - start) / count)
        order.reverse()
    return times


def keep_freed_memory() -> None:
    """Tell glibc's allocator to keep freed memory, for all engines alike.

    By default, the layout of the heap decides whether the memory of freed arrays returns to the system. Requesting it
    again costs more than most operations on the arrays: numpy by hand then takes three times as long.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another allocator
    for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        mallopt(option, 1 << 30)


@contextmanager
def _modules_set_aside() -> Iterator[None]:
    """A context in which the cyclic collector ignores all objects made before, for all engines alike.

    Otherwise a full collection, during whichever engine's timing it happens, would also traverse the modules of all
    peers.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _repetitions(run: Callable[[], Any], block: float) -> int:
    """How many runs take about `block` seconds. Serves as warm-up, too."""
    start = process_time()
    run()
    first = process_time() - start
    if first > block:
        return 1
    start, count = process_time(), 0
    while process_time() - start < block:
        run()
        count += 1
    return count


def ratios(times: Mapping[str, Sequence[float]], ours: str) -> dict[str, Ratio]:
    """The ratios of our time to that of each of the others, taken round by round."""
    if ours not in times:
        return {}
    result = {}
    for name, column in times.items():
        if name != ours:
            low, median, high = np.percentile(np.divide(times[ours], column), (25, 50, 75))
            result[name] = Ratio(float(median), float(low), float(high))
    return result
