"""Measurements of recordings: what making, saving and loading one costs, and a recorder that waits for its pass."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engines import Engine
from benchmarks.figures import Figure, median_ratio
from benchmarks.installed import installed
from benchmarks.measure import OURS
from benchmarks.workloads import SAMPLES, SCALAR_MLP_SIZE, Workload, scalar_mlp, scalars

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording

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
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", RECORDED, how]
            measured = partial(subprocess.check_output, command, text=True, env=installed(folder))
            ratios = [float(measured()) for _ in range(4 if quick else 10)][1:]  # the first one compiles
        yield Figure(what, float(np.median(ratios)), "× plain", most)

    samples = SAMPLES[0] * 12, SAMPLES[1] * 12
    large = engines[OURS].prepare(Workload("large", "", scalar_mlp, scalars(SCALAR_MLP_SIZE), samples))
    from microtape.recording.findings import findings

    record = microtape.record  # imports it
    start = process_time()
    with record() as recorder:
        large()
    result = recorder.recording if hasattr(recorder, "recording") else recorder
    recorded_in = process_time() - start
    yield Figure(f"recording a pass of {len(result.nodes):,} nodes", recorded_in, "s", 1.5)
    start = process_time()
    findings(result)
    yield Figure("its findings", (process_time() - start) / recorded_in, "× recording it", 0.1)
    few, many = (_seconds_per_node(_training_loop(passes)) for passes in ((4, 16) if quick else (10, 100)))
    yield Figure("findings: time per node, 100 passes of an RNN over 10", many / few, "×", 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.tape"
        start = process_time()
        microtape.save(result, path)
        yield Figure("saving it", process_time() - start, "s")
        yield Figure("the file", path.stat().st_size / 1e6, "MB", 20)
        start = process_time()
        microtape.load(path)
        yield Figure("loading it", process_time() - start, "s", 1)


def _training_loop(passes: int) -> Recording:
    """So many passes of an RNN with a layer whose units are dead, which several findings go after."""
    import microtape
    from microtape import nn, optim

    microtape.manual_seed(0)
    cell, dead, scores = nn.RNNCell(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)
    dead.bias.data.fill_(-100.0)
    optimizer = optim.SGD([*cell.parameters(), *dead.parameters(), *scores.parameters()], lr=0.01)
    x, y = microtape.randn(30, 16, 4), microtape.randn(16, 1)
    with microtape.record() as recorder:
        for _ in range(passes):
            optimizer.zero_grad()
            h = microtape.zeros(16, 8)
            for one in x:
                h = cell(one, h)
            loss = ((scores(microtape.relu(dead(h))) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
    return recorder.recording


def _seconds_per_node(recording: Recording) -> float:
    """How long findings take, by the number of nodes."""
    from microtape.recording.findings import findings

    start = process_time()
    findings(recording)
    return (process_time() - start) / len(recording.nodes)


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
