"""Measurements other than the ratios of workloads: imports, memory, growth. Each check yields figures."""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.engines import Engine, Torch
from benchmarks.figures import Check, Figure, median_ratio
from benchmarks.installed import installed
from benchmarks.measure import OURS
from benchmarks.pytorch import pytorch
from benchmarks.recording import insides, recording, sleeping, summaries
from benchmarks.training import training
from benchmarks.workloads import FOUR, SMALL_MLP, Workload, mlp


def imports(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """`import microtape` after numpy in fresh processes, from compiled files as in an installation."""
    program = "import numpy; from time import process_time as t; s = t(); import microtape; print(t() - s)"
    with tempfile.TemporaryDirectory() as cache:
        command = partial(subprocess.check_output, [sys.executable, "-c", program], env=installed(cache))
        command()  # this one compiles
        times = [float(command()) for _ in range(5 if quick else 21)]
    yield Figure("`import microtape` beyond numpy's import", 1e3 * float(np.median(times)), "ms", 20)


def source_lines(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """The cost of keeping an operation's source line: times only the statements of `attach` that do so."""
    from microtape.basics.call_site import LIBRARY_FILES
    from microtape.tape.node import Node

    node = Node()

    def kept() -> None:
        frame = sys._getframe(2)
        code = frame.f_code
        if code.co_filename not in LIBRARY_FILES:
            node.code = code
            node.instruction = frame.f_lasti

    yield Figure("keeping the source line, an operation", 1e6 * _cost_above_a_call(kept), "µs", 0.1)


def _best(function: Callable[[], Any], count: int, times: int) -> float:
    """Seconds of an undisturbed call: the best of several timings of `count` calls."""
    timings = []
    for _ in range(times):
        start = process_time()
        for _ in range(count):
            function()
        timings.append((process_time() - start) / count)
    return min(timings)


def _cost_above_a_call(function: Callable[[], Any]) -> float:
    """Seconds of the function's own statements, without the call itself."""

    def nothing() -> None:
        pass

    return max(0.0, _best(function, 20_000, 15) - _best(nothing, 20_000, 15))  # a negative difference is noise


def watching(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """The share of a pass spent on checking for observers: the number of checks times the cost of one."""
    from microtape.tape.watch import watch

    run = engines[OURS].prepare(Workload("mlp", "", mlp, **SMALL_MLP))
    kind, asked = type(watch), 0

    class Counting(kind):  # type: ignore[misc, valid-type]
        __slots__ = ()

        @property
        def watcher(self) -> None:
            nonlocal asked
            asked += 1

    watch.__class__ = Counting
    try:
        run()
    finally:
        watch.__class__ = kind

    def ask() -> None:
        if watch.watcher is not None:
            raise AssertionError

    share = asked * _cost_above_a_call(ask) / _best(run, 100, 9)
    yield Figure(f"checking for observers, {asked} times in the MLP", 100 * share, "%", 2)


def _chain_of(torch: Any, count: int) -> Any:
    """The result of a chain of mul/add on 4 floats."""
    y, a, b = (torch.tensor(one, requires_grad=True) for one in FOUR)
    for _ in range(count // 2):
        y = y * a
        y = y + b
    return y


def memory(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """Bytes per node while the graph lives, and the share left after dropping it with the collector off."""
    import microtape

    each = []
    sizes = [10**k for k in range(2, 6 if quick else 7)]
    _chain_of(microtape, 100)
    for count in sizes:
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            y = _chain_of(microtape, count)
            held = tracemalloc.get_traced_memory()[0]
            del y
            left = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
            gc.enable()
        each.append(held / count)
    yield Figure("memory per node, with its source line and its result", each[-1], "bytes", 560)
    yield Figure(f"the same, {sizes[-1]:,} nodes over 1,000", each[-1] / each[1], "×", 1.1)
    yield Figure("memory that stays after `del` without the collector", 100 * left / held, "%", 1)


def growth(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """Time per node in graphs of several shapes, large over small: 1 if time is proportional to the graph's size.

    The cyclic collector is off, since its passes over all living objects are Python's work; the last figure has it on,
    for comparison.
    """
    import microtape as mt

    def leaves(count: int) -> list[Any]:
        return [mt.tensor(0.5, requires_grad=True) for _ in range(count)]

    def fan_out(count: int) -> Any:
        (x,) = leaves(1)
        return sum([x * 1.0 for _ in range(count)], x).backward()

    def doubling(count: int) -> Any:
        (x,) = leaves(1)
        for _ in range(count):
            x = x * 0.5 + x * 0.5
        x.backward()

    def in_place(count: int) -> Any:
        x = leaves(1)[0] * 1.0
        for _ in range(count):
            x.mul_(1.0)
        x.backward()

    def stacked(count: int) -> Any:
        mt.stack([leaf * 2.0 for leaf in leaves(count)]).sum().backward()

    def gradients(count: int) -> Any:
        inputs = leaves(count)
        mt.autograd.grad(sum(inputs), inputs)

    def chain(count: int) -> Any:
        _chain_of(mt, count).sum().backward()

    small, large = 100, 5_000 if quick else 1_000_000

    def grown(build: Callable[[int], Any]) -> float:
        few = _best(partial(build, small), 10, 20) / small
        return _best(partial(build, large), 1, 3 if quick else 1) / large / few

    for what, build in {
        "a chain": chain,
        "one leaf used by all": fan_out,
        "a ladder of diamonds": doubling,
        "in-place operations on one tensor": in_place,
        "one node with an edge to each of them": stacked,
        "grad() with respect to each of them": gradients,
    }.items():
        gc.disable()
        try:
            yield Figure(f"time per node, {large:,} over {small:,}: {what}", grown(build), "×", 2)
        finally:
            gc.enable()
            gc.collect()
    yield Figure("a chain again, with the cyclic collector on", grown(chain), "×")


def derivatives(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """gradcheck and jacobian of 1,000 inputs, compared with torch."""
    x = np.random.default_rng(0).uniform(-1, 1, 100 if quick else 1000)
    for what, where, name in (("gradcheck", "autograd", "gradcheck"), ("jacobian", "autograd.functional", "jacobian")):
        title = f"{what} of {x.size:,} inputs"
        runs: dict[str, Callable[[], Any]] = {}
        for engine in (OURS, "torch"):
            if not isinstance(engines.get(engine), Torch):
                continue
            module = importlib.import_module(engine)
            home: Any = module
            for part in where.split("."):
                home = getattr(home, part, None)
            if hasattr(home, name):
                leaf = module.tensor(x, requires_grad=True)
                runs[engine] = partial(getattr(home, name), lambda a: a * a.tanh(), leaf)
        if len(runs) < 2:
            missing = "torch" if OURS in runs else OURS
            yield Figure(title, None, "× torch", 3, f"{missing} is missing, or has no {name}")
            continue
        yield Figure(title, median_ratio(runs[OURS], runs["torch"], 3 if quick else 7), "× torch", 3)


CHECKS: dict[str, Check] = {
    "recording": recording,
    "sleeping": sleeping,
    "insides": insides,
    "summaries": summaries,
    "training": training,
    "pytorch": pytorch,
    "imports": imports,
    "source lines": source_lines,
    "watching": watching,
    "memory": memory,
    "growth": growth,
    "derivatives": derivatives,
}
