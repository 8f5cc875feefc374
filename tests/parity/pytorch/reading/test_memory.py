"""The memory that a recorded training step needs, and what is let go of after a pass."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from time import perf_counter

import pytest

from tests.parity.pytorch.beside import Mark, nodes_behind


def transformer(torch):
    """A training step of 12 layers and 10 million parameters."""
    from torch import nn

    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 12), nn.Linear(256, 100))
    optimizer = torch.optim.Adam(model.parameters())
    x, labels = torch.randn(8, 64, 256), torch.randint(0, 100, (8 * 64,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x).flatten(0, 1), labels).backward()
        optimizer.step()

    return step


def deep_network(torch):
    """A training step of 60 layers."""
    from torch import nn

    layers = [one for _ in range(60) for one in (nn.Linear(384, 384), nn.ReLU())]
    model, x = nn.Sequential(*layers), torch.randn(1024, 384)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step():
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()

    return step


def peak_of_tensors(torch, run):
    """The largest number of bytes that torch had allocated while it ran."""
    gc.collect()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = [one for one in profile.profiler.kineto_results.events() if one.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda one: one.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("budget", [0, None])
@pytest.mark.parametrize("program", [transformer, deep_network])
def test_a_recorded_step_needs_a_fifth_more_memory_than_by_itself_and_the_budget(torch, program, budget):
    from microtape.recording.pytorch.reading.values import Budget, Values
    from microtape.recording.pytorch.recorder import TorchRecorder

    def prepared():
        torch.manual_seed(0)
        step = program(torch)
        step()
        return step

    plain = peak_of_tensors(torch, prepared())
    step, recorder = prepared(), TorchRecorder()
    if budget is not None:
        recorder.values = recorder.tensors.values = Values(Budget(budget))
    values = recorder.values

    def run():
        with recorder:
            step()

    tracemalloc.start()  # sees the arrays of numpy as well
    try:
        recorded = peak_of_tensors(torch, run)
        own = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert recorder.recording.passes[0].steps
    assert plain > 50e6
    assert recorded + own <= 1.2 * plain + values.spent
    assert budget is None or values.spent <= budget


def doubled(torch):
    """A Function of the program's."""

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Doubled


def test_nothing_of_the_program_is_held_after_a_pass(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    function = doubled(torch)

    def hook(gradient):
        return gradient * 1

    weight = torch.ones(300, 300, requires_grad=True)
    small = torch.ones(3, requires_grad=True)
    gone: list[weakref.ref] = []

    def step():
        x = torch.randn(300, 300)
        hidden = function.apply(x @ weight)
        hidden.register_hook(lambda gradient: hook(gradient))
        hidden.retain_grad()
        view = hidden[1:].sigmoid_().view(-1)
        loss = view.sum() + (small * small).sum()
        for node in nodes_behind([loss.grad_fn]):
            if not hasattr(node, "variable"):
                node.metadata["mark"] = mark = Mark()
                gone.append(weakref.ref(mark))
        loss.backward()
        gone.extend(weakref.ref(one) for one in (x, hidden, view, loss, hidden.grad, weight.grad, small.grad))
        weight.grad = small.grad = None

    gc.collect()
    gc.disable()
    try:
        with TorchRecorder() as recorder:
            for _ in range(3):
                step()
                assert [one() for one in gone if one() is not None] == []
    finally:
        gc.enable()
    assert len(recorder.recording.passes) == 3
    assert recorder.recording.faults == ()
    assert len(gone) > 3 * 12


def test_what_a_program_keeps_of_its_functions_and_modules_keeps_no_recorder(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    function = doubled(torch)
    linear = torch.nn.Linear(3, 1)

    def program():
        for run in kept:
            run(torch.randn(2, 3)).sum()

    with TorchRecorder() as recorder:
        kept = [function.apply, linear.__call__, torch.compile(linear, backend="eager")]
        program()
    gone = weakref.ref(recorder)
    program()
    del recorder
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("check", [None, "functions", "all"])
def test_a_recorder_and_what_it_has_copied_are_gone_without_the_collector(torch, check):
    from microtape.recording.engines import ProgramRecorder

    function = doubled(torch)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step():
        optimizer.zero_grad()
        function.apply(model(torch.ones(2, 4))).sum().backward()
        optimizer.step()

    def recorded():  # a function of its own: before Python 3.13, looking for names keeps its variables until it returns
        with ProgramRecorder("train.py", check=check) as recorder:
            step()
        torchs = recorder.current
        assert len(torchs.recording.passes) == 1
        held = [torchs, torchs.tensors, torchs.call_stack, torchs.operations, torchs.segments[0].tape]
        held += [torchs.tensors.find(one) for one in model.parameters()]
        return [weakref.ref(one) for one in held]

    step()
    gc.collect()
    gc.disable()
    try:
        assert [one() for one in recorded() if one() is not None] == []
    finally:
        gc.enable()


def test_the_cycles_of_a_program_whose_passes_are_recorded_do_not_pile_up(torch, monkeypatch):
    monkeypatch.setattr("microtape.basics.collector.SELDOM", (10**9, 10, 10))  # never by Python itself
    import microtape as mt

    alive, rounds, end = weakref.WeakSet(), 0, perf_counter() + 30
    linear = torch.nn.Linear(8, 1)

    def step():
        mark = Mark()
        mark.itself, mark.loss = mark, linear(torch.ones(2, 8)).pow(2).mean()
        mark.loss.backward()
        alive.add(mark)

    with mt.record(until="nan"):
        while len(alive) == rounds and perf_counter() < end:
            step()
            rounds += 1
    assert len(alive) < rounds
