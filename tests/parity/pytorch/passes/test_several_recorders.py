"""Recorders in several threads, or several in one, begin and end in any order, and what they watch works on."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity.pytorch.watching import replaced, torch_since

THREADS = 3
FIRST, LAST = 0, -1
EVENTS = [("begin", LAST), ("end", FIRST), ("end", LAST), ("run", LAST)]
events = st.lists(st.tuples(st.integers(0, THREADS - 1), st.sampled_from(EVENTS)), max_size=14)


def program(torch: Any) -> Callable[[], list[float]]:
    """A step that goes by everything that a recorder replaces."""

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.set_materialize_grads(False)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * gradient * x

    apply = Square.apply  # as programs keep it

    def step() -> list[float]:
        layer, x, other = torch.nn.Linear(1, 1), torch.ones(1, requires_grad=True), torch.zeros(1, requires_grad=True)
        torch.utils.swap_tensors(x, other)
        with torch.no_grad():
            layer.weight.fill_(2), layer.bias.fill_(0)
        with torch.autograd.graph.save_on_cpu():
            y = layer(apply(other) + Square.apply(other))
        y.register_hook(lambda gradient: gradient * 2)
        y.sum().backward()
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            warnings.warn("here", stacklevel=1)
        return [y.item(), other.grad.item(), layer.weight.grad.item()]

    return step


def is_taken_seen() -> bool:
    """Whether an `apply` is seen that was taken from its Function before: it is a method of C since torch 2.14."""
    return not torch_since("2.14")


def own_of_a_thread() -> tuple[Any, int]:
    import torch

    return sys.gettrace(), torch._C._len_torch_function_stack()


@pytest.mark.parametrize("check", [None, "all"])
@settings(max_examples=40)
@given(events=events)
def test_any_order(check: Any, events: list[tuple[int, tuple[str, int]]]) -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    step, before = program(torch), replaced()
    pools = [ThreadPoolExecutor(1) for _ in range(THREADS)]
    live: list[list[tuple[Any, list[int]]]] = [[] for _ in pools]  # in each thread, with how many steps each has seen

    def begin(thread: int, place: int) -> None:
        recorder = TorchRecorder(check=check)
        recorder.__enter__()
        live[thread].append((recorder, [0]))

    def end(thread: int, place: int) -> None:
        if live[thread]:
            recorder, steps = live[thread].pop(place)
            recorder.__exit__(None, None, None)
            recording = recorder.recording
            assert recording.faults == ()
            squares = [node for node in recording.nodes if node.op == "Square" and node.place is not None]
            assert len(squares) == (2 if is_taken_seen() else 1) * steps[0]

    def run(thread: int, place: int) -> None:
        assert step() == [4.0, 16.0, 4.0]
        for _, steps in live[thread]:
            steps[0] += 1

    does = {"begin": begin, "end": end, "run": run}
    try:
        for thread, (event, place) in events:
            pools[thread].submit(does[event], thread, place).result()
            assert step() == [4.0, 16.0, 4.0]  # in a thread that nobody records
    finally:
        for thread, pool in enumerate(pools):
            while live[thread]:
                pool.submit(end, thread, LAST).result()
            assert pool.submit(own_of_a_thread).result() == (None, 0)
            pool.shutdown()
    assert replaced() == before


def test_recorders_that_take_turns_are_forgotten(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    step, recorders = program(torch), [TorchRecorder()]
    recorders[0].__enter__()
    ended = []
    try:
        for _ in range(20):  # there is always one
            recorders.append(TorchRecorder())
            recorders[-1].__enter__()
            assert step() == [4.0, 16.0, 4.0]
            recorders[0].__exit__(None, None, None)
            ended.append(weakref.ref(recorders.pop(0)))
        gc.collect()
        assert [one() for one in ended] == [None] * 20
    finally:
        for one in recorders:
            one.__exit__(None, None, None)


def test_an_apply_that_was_taken_before_is_seen(torch: Any) -> None:
    import microtape as mt

    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, by: Any = 2) -> Any:
            return x * by

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2, None

    double = Double.apply
    with mt.record() as recorder:
        double(torch.ones(2, requires_grad=True)).sum().backward()
    (node,) = [node for node in recorder.recording.nodes if node.op == "Double"]
    assert (node.place is not None) == is_taken_seen()
    assert double(torch.ones(2)).tolist() == [2.0, 2.0]


def test_transformers_take_their_fast_path_beside_others(torch: Any) -> None:
    from torch.overrides import has_torch_function

    from microtape.recording.pytorch.recorder import TorchRecorder

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.ones(1, 3, 8)

    def asks() -> bool:
        """What the layer asks: torch takes its fast path only where this is False."""
        found: list[bool] = []
        namespace = {"__name__": "torch.nn.modules.transformer", "ask": torch.overrides, "x": x, "found": found}
        exec("found.append(ask.has_torch_function((x,)))", namespace)
        return found[0]

    with torch.no_grad(), ThreadPoolExecutor(1) as pool:
        plain = layer(x)
        with TorchRecorder():
            assert has_torch_function((x,))
            recorder = TorchRecorder()
            pool.submit(recorder.__enter__).result()
            with TorchRecorder():
                assert not asks()
                assert torch.equal(layer(x), plain)
                assert not pool.submit(asks).result()
            pool.submit(recorder.__exit__, None, None, None).result()
            assert not asks()
