"""Side by side timing: every round runs all engines one after the other, and ratios are taken within a round.

What is read is the time that the process has spent computing, on its one thread: what else the machine does meanwhile
counts as little as it can.
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
    """Two engines do not agree on a gradient: comparing their times would mean nothing."""


@dataclass(frozen=True)
class Ratio:
    """Our time over a peer's: the median over the rounds, and the quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """What was measured on one workload."""

    workload: Workload
    seconds: Mapping[str, float]  # the median time of one run, by engine
    ratios: Mapping[str, Ratio]  # by peer
    skipped: Mapping[str, str]  # peers that could not run it, and why

    @property
    def missed(self) -> list[str]:
        """The peers whose target was missed."""
        return [name for name, target in self.workload.targets.items() if self.over(name, target)]

    def over(self, name: str, target: float) -> bool:
        """Whether the ratio to this peer was measured and is above the target."""
        return name in self.ratios and round(self.ratios[name].median, 2) > target

    @property
    def overhead(self) -> float | None:
        """Microseconds of each operation above hand-written numpy; None where that means nothing."""
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
    with modules_set_aside():
        times = interleaved(runs, rounds, block)
    seconds = {name: float(np.median(column)) for name, column in times.items()}
    return Result(workload, seconds, ratios(times, OURS), skipped)


def compare(what: str, gradients: Sequence[Array], expected: Sequence[Array], tolerance: float) -> None:
    """Raise DifferentError where two engines' gradients are not the same up to rounding."""
    for i, (gradient, wanted) in enumerate(zip(gradients, expected, strict=True)):
        largest = float(np.max(np.abs(wanted), initial=1e-6))
        if np.shape(gradient) != np.shape(wanted) or not np.all(np.abs(gradient - wanted) <= tolerance * largest):
            raise DifferentError(f"{what} has another gradient for parameter {i}")


def interleaved(runs: Mapping[str, Callable[[], Any]], rounds: int, block: float) -> dict[str, list[float]]:
    """The seconds of one run of each, `rounds` times. A timing covers as many runs as take about `block` seconds.

    Every other round goes through them in the opposite order, so that none always comes first.
    """
    counts = {name: repetitions(run, block) for name, run in runs.items()}
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
    """Tell glibc's allocator to keep what is freed, for all engines alike.

    By default it depends on what happens to lie at the end of the heap whether freed arrays go back to the system, and
    asking for them again costs more than most operations on them: numpy by hand then takes three times as long.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another allocator
    for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        mallopt(option, 1 << 30)


@contextmanager
def modules_set_aside() -> Iterator[None]:
    """Inside, the cyclic collector passes over all that was there before, for all engines alike.

    Otherwise a full collection, in whose time it happens to fall, goes through the modules of all peers as well.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def repetitions(run: Callable[[], Any], block: float) -> int:
    """How many runs take about `block` seconds. This is the warm-up as well."""
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
    """Our time over that of each of the others, round by round."""
    if ours not in times:
        return {}
    result = {}
    for name, column in times.items():
        if name != ours:
            low, median, high = np.percentile(np.divide(times[ours], column), (25, 50, 75))
            result[name] = Ratio(float(median), float(low), float(high))
    return result
