"""Steps of torch's optimisers, during which our modes are off torch's stack: what is noted of them all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import microtape as mt
from microtape.recording.model.model import Recording

pytestmark = pytest.mark.parity

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda torch, parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9),
    "SGD, several at once": lambda torch, parameters: torch.optim.SGD(parameters, 0.1, foreach=True),
    "Adam": lambda torch, parameters: torch.optim.Adam(parameters, 0.1),
    "AdamW": lambda torch, parameters: torch.optim.AdamW(parameters, 0.1),
    "RMSprop": lambda torch, parameters: torch.optim.RMSprop(parameters, 0.1),
}


def line_of(mark: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith(f"# {mark}"))


def calls_seen(torch: Any, step: Callable[[], object]) -> int:
    """How many calls of torch our mode sees during a step."""
    from microtape.recording.pytorch.operations.operations import Operations

    seen: list[object] = []
    usual = Operations.__torch_function__

    def counted(mode: Any, function: Any, *rest: Any) -> Any:
        seen.append(function)
        return usual(mode, function, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Operations, "__torch_function__", counted)
        step()
    return len(seen)


def in_use() -> int:
    from torch import _C

    return _C._len_torch_function_stack()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_is_an_update_at_its_line_and_no_call_in_it_is_seen(torch: Any, kind: str) -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = KINDS[kind](torch, model.parameters())
    with mt.record() as recorder:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(4, 3)).pow(2).sum().backward()
            assert calls_seen(torch, optimizer.step) <= 2  # those of torch's profiler around the step
    assert in_use() == 0
    recording = recorder.recording
    assert [one.passes for one in recording.updates] == [1, 1, 2, 2, 3, 3]
    assert recording.notes == ()
    versions = {name: one.values for one in recording.tensors for name in one.names if name.startswith("model.")}
    assert {name: len(values) for name, values in versions.items()} == {"model.weight": 4, "model.bias": 4}


@pytest.mark.parametrize("kind", KINDS)
def test_the_parameters_are_the_same_to_the_bit(torch: Any, kind: str) -> None:
    found = []
    for is_recorded in (False, True):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        optimizer = KINDS[kind](torch, model.parameters())

        def run(model: Any = model, optimizer: Any = optimizer) -> None:
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.ones(4, 3)).pow(2).sum().backward()
                optimizer.step()

        if is_recorded:
            with mt.record():
                run()
        else:
            run()
        found.append([one.detach().numpy().tobytes() for one in model.parameters()])
    assert found[0] == found[1]


def recorded_after_a_failed_step(torch: Any, goes_on: Callable[[Any], Any]) -> Recording:
    table = torch.nn.Embedding(4, 2, sparse=True)
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.Adam(table.parameters())
    with mt.record() as recorder:
        table(torch.tensor([1])).sum().backward()
        with pytest.raises(RuntimeError, match="sparse"):
            optimizer.step()
        goes_on(weight)
    assert in_use() == 0
    return recorder.recording


def test_a_step_that_raises_leaves_the_next_module_recorded(torch: Any) -> None:
    layer = torch.nn.Linear(2, 1)

    def goes_on(weight: Any) -> None:
        layer(weight).sum().backward()  # after the failure

    recording = recorded_after_a_failed_step(torch, goes_on)
    lines = {one.op: one.place.line for one in recording.nodes if one.place is not None}
    assert lines["linear"] == line_of("after the failure")


def test_a_step_that_raises_leaves_the_pass_after_the_next_recorded(torch: Any) -> None:
    def goes_on(weight: Any) -> None:
        (weight * 2).sum().backward()
        (weight * 3).prod().backward()  # two passes later

    recording = recorded_after_a_failed_step(torch, goes_on)
    lines = {one.op: one.place.line for one in recording.nodes if one.place is not None}
    assert lines["prod"] == line_of("two passes later")


def test_lines_of_the_program_in_a_step_are_seen(torch: Any) -> None:
    """A closure, hooks of the program's, an optimiser of its own, a step with a history."""
    weight = torch.ones(2, requires_grad=True)

    def closure() -> Any:
        weight.grad = None
        loss = (weight * weight).sum()
        loss.backward()
        return loss

    class Own(torch.optim.Optimizer):  # type: ignore[misc,name-defined]
        @torch.no_grad()  # type: ignore[untyped-decorator]
        def step(self) -> None:
            weight.sub_(weight.grad)

    with mt.record():
        closure()
        hooked = torch.optim.SGD([weight], 0.1)
        hooked.register_step_pre_hook(lambda optimizer, args, kwargs: None)
        for optimizer, args in (
            (torch.optim.SGD([weight], 0.1), (closure,)),
            (torch.optim.LBFGS([weight], max_iter=2), (closure,)),
            (hooked, ()),
            (Own([weight], {}), ()),
        ):
            assert calls_seen(torch, lambda step=optimizer.step, args=args: step(*args)) > 2
        differentiable = torch.optim.SGD([weight.clone()], 0.1, differentiable=True)
        differentiable.param_groups[0]["params"][0].grad = weight
        assert calls_seen(torch, differentiable.step) > 2
    assert in_use() == 0


def test_a_mode_of_the_programs_stays_where_it_is(torch: Any) -> None:
    from torch.overrides import TorchFunctionMode

    class Counting(TorchFunctionMode):  # type: ignore[misc]
        count = 0

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            Counting.count += 1
            return function(*args, **(kwargs or {}))

    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    with mt.record() as recorder:
        (weight * weight).sum().backward()
        with Counting():
            optimizer.step()
            before = Counting.count
            (weight * 3).sum().backward()
    assert 0 < before < Counting.count
    assert in_use() == 0
    assert len(recorder.recording.passes) == 2
