"""Measurements other than the ratios of workloads: recording, memory, imports, growth. Each check yields figures."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.engines import Engine, Torch
from benchmarks.figures import Check, Figure, median_ratio
from benchmarks.measure import OURS
from benchmarks.pytorch import pytorch
from benchmarks.training import training
from benchmarks.workloads import FOUR, SAMPLES, SCALAR_MLP_SIZE, SMALL_MLP, Workload, mlp, scalar_mlp, scalars

RECORDED = """\
import sys
from time import process_time

import microtape
from benchmarks.engines import Torch
from benchmarks.measure import keep_freed_memory
from benchmarks.workloads import SMALL_MLP, Workload, mlp


run = Torch("microtape").prepare(Workload("mlp", "", mlp, **SMALL_MLP))


def loop():
    for _ in range(1_000):
        run()


def recorded(program):
    with microtape.record() as recorder:
        program()
    return recorder


def each():
    for _ in range(1_000):
        recorded(run)


def seconds(program):
    start = process_time()
    kept = program()  # what is returned is freed after this
    return process_time() - start


run()
if sys.argv[1] == "loop":
    print(seconds(lambda: recorded(loop)) / seconds(loop))
else:
    keep_freed_memory()
    print(seconds(each) / seconds(loop))
"""
# A program of its own: at each pass, names of tensors are looked for in all that the running functions hold, and the
# functions of these benchmarks hold five engines.


def recording(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """The cost of `record()`, of a large recording, and of saving and loading it."""
    import microtape

    for what, how, most in (
        ("1,000 passes of MLP 64-128-10 under record()", "loop", 3.5),
        ("MLP 64-128-10 under record(), which begins and ends", "each", 8),
    ):
        command = [sys.executable, "-c", RECORDED, how]
        ratios = [float(subprocess.check_output(command, text=True)) for _ in range(3 if quick else 9)]
        yield Figure(what, float(np.median(ratios)), "× plain", most)

    samples = SAMPLES[0] * 12, SAMPLES[1] * 12
    large = engines[OURS].prepare(Workload("large", "", scalar_mlp, scalars(SCALAR_MLP_SIZE), samples))
    from microtape.recording.findings import findings

    start = process_time()
    with microtape.record() as recorder:
        large()
    result = recorder.recording if hasattr(recorder, "recording") else recorder
    recorded_in = process_time() - start
    yield Figure(f"recording a pass of {len(result.nodes):,} nodes", recorded_in, "s", 1.5)
    start = process_time()
    findings(result)
    yield Figure("its findings", (process_time() - start) / recorded_in, "× recording it", 0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.tape"
        start = process_time()
        microtape.save(result, path)
        yield Figure("saving it", process_time() - start, "s")
        yield Figure("the file", path.stat().st_size / 1e6, "MB", 20)
        start = process_time()
        microtape.load(path)
        yield Figure("loading it", process_time() - start, "s", 1)


def sleeping(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """The cost of a recorder that waits for a pass: a training step of a transformer inside of `record(passes=)`."""
    import microtape

    what = "a transformer's training step, while record(passes=) waits"
    if "torch" not in engines:
        yield Figure(what, None, note="torch is not installed")
        return
    import torch
    from torch import nn

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(128, 64))
    optimizer = torch.optim.Adam(model.parameters())
    x, target = torch.randn(8, 16, 128), torch.randint(0, 64, (8 * 16,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x).reshape(-1, 64), target).backward()
        optimizer.step()

    def plain() -> None:
        for _ in range(10):
            step()

    def asleep() -> None:
        with microtape.record(passes="999999999"):
            plain()

    ratio = median_ratio(asleep, plain, 5 if quick else 21)
    torch.set_num_threads(threads)
    yield Figure(what, ratio, "× plain", 1.05)


def insides(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """What it adds to the time of a recording that a few Functions are recorded from inside."""
    import microtape as mt
    from microtape.recording.writing.recorder import Recorder

    class Swish(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            gate = 1 / (1 + (-x).exp())
            ctx.save_for_backward(x, gate)
            return x * gate

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, gate = ctx.saved_tensors
            return g * (gate + x * gate * (1 - gate))

    class Outside(Recorder):
        def call_started(self, *details: Any) -> None:
            pass

        call_ended = saved_read = call_started

    def program() -> None:
        h = mt.ones(16, 32)
        for layer in range(400):
            h = (h @ mt.full((32, 32), 0.01, requires_grad=True)).tanh() + h
            if layer % 40 == 0:
                h = Swish.apply(h)
        h.sum().backward()

    def recorded(kind: type[Recorder]) -> None:
        with kind() as recorder:
            program()
        assert recorder.recording.passes

    ratio = median_ratio(partial(recorded, Recorder), partial(recorded, Outside), 3 if quick else 15)
    yield Figure("recording 10 Functions among 1,600 nodes from inside", ratio, "× without", 1.1)


def summaries(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """A summary of a large array, compared with numpy's own passes over it that any description needs."""
    from microtape.recording.model.summary import summarize

    array = np.random.default_rng(0).standard_normal((1000, 1000)).astype(np.float32)

    def passes() -> None:
        array.min(), array.max(), array.sum(), np.vdot(array, array), np.count_nonzero(array == 0)

    rounds = 5 if quick else 21
    for what, pictures, most in (("statistics", False, 0.9), ("statistics, histogram and thumbnail", True, 1.8)):
        ratio = median_ratio(partial(summarize, array, pictures=pictures), passes, rounds)
        yield Figure(f"{what} of 1,000,000 float32", ratio, "× min, max, sum, dot, zeros", most)


def imports(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """`import microtape` after numpy in fresh processes, from compiled files as in an installation."""
    program = "import numpy; from time import process_time as t; s = t(); import microtape; print(t() - s)"
    with tempfile.TemporaryDirectory() as cache:
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        variables["PYTHONPYCACHEPREFIX"] = cache
        command = partial(subprocess.check_output, [sys.executable, "-c", program], env=variables)
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
