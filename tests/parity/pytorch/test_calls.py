"""What a recording of a PyTorch program holds of its functions is what one of a program on microtape holds."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import microtape
from microtape import load, save
from microtape.recording.file.integrity import check_integrity
from microtape.recording.model.model import CallRecord, CallStep, Operand, Recording
from microtape.recording.writing.calls.call import CALLS, FIRST, LAST, LONG
from microtape.recording.writing.recorder import Recorder
from tests.support import call_programs
from tests.support.call_programs import PROGRAMS, Log, Program
from tests.support.recordings.random_recordings import plain


def recorded(run: Callable[[], Any], **options: Any) -> Recording:
    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder(**options) as recorder:
        run()
    recording = recorder.recording
    assert recording.faults == ()
    check_integrity(recording)
    return recording


def on_torch(torch: Any, program: Program) -> tuple[Recording, Log]:
    log: Log = []
    return recorded(lambda: program(torch, log)), log


def on_microtape(program: Program) -> Recording:
    with Recorder() as recorder:
        program(microtape, [])
    return recorder.recording


def shown(recording: Recording, operand: Operand) -> Any:
    return operand.text or np.asarray(recording.value(operand.ref)).tolist()


def variables(recording: Recording, step: CallStep) -> dict[str, Any]:
    found = {one.name: shown(recording, one.value) for one in step.variables}
    return {name: value for name, value in found.items() if name not in ("log", "mt", "inner")}


def steps_of(recording: Recording, call: CallRecord) -> list[tuple[Any, ...]]:
    """The steps as both engines record them: the words for operations differ, and the order of operands."""
    return [
        (one.kind, one.place, sorted(str(number(shown(recording, each))) for each in one.operands),
         [shown(recording, each) for each in one.outputs], one.in_place, variables(recording, one))
        for one in call.steps
    ]  # fmt: skip


def number(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value.replace(".", "").isdigit() else value


def calls_of(recording: Recording) -> list[CallRecord]:
    """Those of which torch tells: not of pack hooks, and not of the forward of its own Functions."""
    return [one for one in recording.calls if one.kind != "pack hook" and (one.kind, one.name) != ("forward", "block")]


def line_of(recording: Recording, step: CallStep) -> str:
    assert step.place is not None
    return recording.sources[step.place.file].splitlines()[step.place.line - 1].strip()


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_calls_are_those_of_the_same_program_on_microtape(torch: Any, program: Program) -> None:
    theirs, log = on_torch(torch, program)
    ours = on_microtape(program)
    assert {one.name for one in theirs.calls} == set(log) - {"pack"}
    described = [
        [(one.kind, one.name, one.pass_, one.place, one.outer is None, one.error and one.error.message)
         for one in calls_of(recording)]
        for recording in (theirs, ours)
    ]  # fmt: skip
    assert described[0] == described[1]
    for one, other in zip(calls_of(theirs), calls_of(ours), strict=True):
        if one.kind != "recomputation":  # of which torch runs as much as it needs
            assert steps_of(theirs, one) == steps_of(ours, other)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_call_ends_and_is_kept_in_the_file(torch: Any, program: Program, tmp_path: Any) -> None:
    recording, _ = on_torch(torch, program)
    for call in recording.calls:
        assert call.steps[0].kind == "enter"
        assert call.steps[-1].kind == ("raise" if call.error else "return")
        assert all(one.place is not None for one in call.steps)
        if call.pass_ is not None and call.kind != "forward":
            (steps,) = [one.steps for one in recording.passes if one.index == call.pass_]
            assert call.step is not None
            assert call.step == len(steps) or steps[call.step].node == call.node
    save(recording, tmp_path / "calls.tape")
    assert plain(load(tmp_path / "calls.tape")) == plain(recording)


def test_what_functions_promised_is_what_they_promise_on_microtape(torch: Any) -> None:
    for program in PROGRAMS:
        theirs, ours = on_torch(torch, program)[0], on_microtape(program)
        described = [
            [
                (
                    [(a.name, shown(r, a.value), a.needs_gradient, a.edge) for a in one.arguments],
                    one.outputs, [(a.name, shown(r, a.value)) for a in one.attributes], one.materializes_grads,
                    one.once_differentiable, [saved.name for saved in r.nodes[one.node].saved],
                )
                for one in r.functions if one.node < len(r.nodes) and not r.nodes[one.node].made_by
            ]
            for r in (theirs, ours)
        ]  # fmt: skip
        if program not in (call_programs.with_a_function_in_a_function, call_programs.with_a_reentrant_checkpoint):
            assert described[0] == described[1], program.__name__


def test_roles_of_outputs(torch: Any) -> None:
    class Many(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, *rest: Any) -> Any:
            ctx.set_materialize_grads(False)
            ctx.mark_dirty(y)
            y.mul_(2)
            index = x.argmax()
            part = x[1:]
            return x * 2, x, y, part, index, "a text", rest[0]

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0] * 2, gradients[2], gradients[6], None

    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))

    def program() -> None:
        several = Many.apply(x, y * 1, y * 3, 7)
        (several[0] + several[2] + several[6]).sum().backward()

    recording = recorded(program)
    (function,) = recording.functions
    assert [(one.name, one.role, one.argument, one.reason) for one in function.outputs] == [
        ("", "differentiable", None, ""),
        ("x", "returned unchanged", 0, ""),
        ("y", "dirty", 1, ""),
        ("part", "view", 0, ""),
        ("index", "non-differentiable", None, "int64"),
        ("", "not a tensor", None, ""),
        ("rest[0]", "returned unchanged", 2, ""),
    ]
    assert [(one.name, one.edge) for one in function.arguments] == [
        ("x", 0),
        ("y", 1),
        ("rest[0]", 2),
        ("rest[1]", None),
    ]
    assert (function.materializes_grads, function.once_differentiable) == (False, True)


def test_a_write_into_a_view_belongs_to_the_node_that_replaced_the_history(torch: Any) -> None:
    class Halve(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(0.5)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 0.5

    def program() -> None:
        y = torch.ones(3, requires_grad=True) * 1
        Halve.apply(y[1:])
        y.sum().backward()

    recording = recorded(program)
    (function,) = recording.functions
    assert recording.nodes[function.node].kind == "copy_slices"
    assert {(one.kind, one.node) for one in recording.calls} == {
        ("forward", function.node),
        ("backward", function.node),
    }


@pytest.mark.parametrize(
    ("returned", "words"),
    [("grad", "incorrect number of gradients"), ("(grad.new_ones(5), None)", "invalid gradient at index 0")],
)
def test_a_mistake_in_what_backward_returns_is_found_at_its_return(torch: Any, returned: str, words: str) -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return eval(returned, {"grad": grad})

    def program() -> None:
        with pytest.raises(RuntimeError, match=words):
            Bad.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()

    recording = recorded(program)
    call = recording.calls[-1]
    assert (call.kind, call.error, call.steps[-1].kind) == ("backward", None, "return")
    assert line_of(recording, call.steps[-1]).startswith("return eval")
    assert recording.passes[0].steps[-1].node == call.node
    assert recording.passes[0].error is not None


def test_a_forward_that_raises_is_kept_without_a_node(torch: Any) -> None:
    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            total = x.sum()
            raise ValueError(f"not {total}")

    def program() -> None:
        with pytest.raises(ValueError, match="not"):
            Raises.apply(torch.ones(2, requires_grad=True))
        torch.ones(2, requires_grad=True).sum().backward()

    (call,) = recorded(program).calls
    assert call.error is not None
    assert (call.kind, call.node, call.error.message) == ("forward", None, "not 2.0")
    assert [one.kind for one in call.steps] == ["enter", "operation", "raise"]


def test_a_function_that_no_pass_reaches_is_no_call_and_is_not_kept(torch: Any) -> None:
    clip = call_programs.clip(torch, [])
    bodies: list[Any] = []

    def program() -> None:
        with torch.no_grad():
            clip.apply(torch.tensor([1.0]), 0.0)
        for _ in range(3):
            y, _ = clip.apply(torch.ones(2, requires_grad=True), 0.0)
            bodies.append(weakref.ref(recorder.tensors.node(y.grad_fn)))
            del y
        gc.collect()
        assert [one() for one in bodies] == [None] * 3
        torch.ones(2, requires_grad=True).sum().backward()

    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder() as recorder:
        program()
    assert (recorder.recording.calls, recorder.recording.functions) == ((), ())


def test_long_calls_and_many_calls_have_a_budget(torch: Any) -> None:
    class Long(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            for _ in range(FIRST + LAST + 100):
                x = x + 1
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    def many() -> None:
        x = torch.tensor(1.0, requires_grad=True)
        for _ in range(CALLS + 5):
            x.register_hook(lambda gradient: None)
        (x * 2).backward()

    (call, _) = recorded(lambda: Long.apply(torch.tensor(1.0, requires_grad=True)).backward()).calls
    assert (len(call.steps), call.left_out, call.left_out_at) == (FIRST + LAST, 102, FIRST)
    recording = recorded(many)
    assert len(recording.calls) == CALLS
    assert recording.notes == ("5 calls of Functions and hooks were not kept, after the first 1,000",)


def test_of_a_very_long_call_the_beginning_and_the_end_are_kept(torch: Any) -> None:
    def solver(gradient: Any) -> Any:
        for _ in range(LONG):
            gradient = gradient + 1
        return gradient

    def run() -> None:
        x = torch.tensor(1.0, requires_grad=True)
        x.register_hook(solver)
        (x * 2).backward()

    recording = recorded(run)
    (call,) = recording.calls
    assert (len(call.steps), call.left_out, call.left_out_at) == (FIRST + 1, LONG + 1 - FIRST, FIRST)
    assert (call.steps[-1].kind, shown(recording, call.steps[-1].outputs[0])) == ("return", LONG + 2)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_debugger_keeps_its_trace_function(torch: Any, program: Program) -> None:
    seen = []

    def debugger(frame: Any, event: str, argument: Any) -> None:
        seen.append(event)

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        recording, log = on_torch(torch, program)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    assert seen
    unseen = {"pack", "unpack", "block", "Cube.setup_context"}  # their frames are what tells of them
    assert {one.name for one in recording.calls} == set(log) - unseen


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_stays_behind(torch: Any, program: Program) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    function = torch.autograd.function
    owners = function.BackwardCFunction, function.FunctionCtx, torch.autograd.graph.saved_tensors_hooks
    before = [dict(vars(one)) for one in owners]
    with TorchRecorder() as recorder:
        program(torch, [])
        assert torch._C._len_torch_function_stack() == 1
    assert [dict(vars(one)) for one in owners] == before
    assert torch._C._len_torch_function_stack() == 0
    assert sys.gettrace() is None
    stack = recorder.call_stack
    assert (stack._running, stack.applying, stack._raised) == ([], [], None)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("room", "owner", "method"),
    [
        ("inside.notebook", "Notebook", "operand_inside"),
        ("inside.calls", "TorchCall", "add"),
        ("inside.calls", "TorchCall", "leaving"),
        ("inside.calls", "TorchCall", "record_on"),
        ("inside.functions", "FunctionCall", "_note"),
        ("inside.contracts", "FunctionNote", "record"),
        ("checks.checker", "TorchChecker", "compare"),
        ("checks.checker", "TorchChecker", "_arrays"),
    ],
)
def test_a_fault_of_ours_is_noted_and_the_program_goes_on(
    torch: Any, monkeypatch: pytest.MonkeyPatch, room: str, owner: str, method: str
) -> None:
    from importlib import import_module

    from microtape.recording.pytorch.recorder import TorchRecorder

    def fails(*args: Any, **options: Any) -> None:
        raise RuntimeError("a fault of ours")

    expected = [program(torch, []) for program in PROGRAMS]
    monkeypatch.setattr(getattr(import_module(f"microtape.recording.pytorch.{room}"), owner), method, fails)
    noted = 0
    for program, result in zip(PROGRAMS, expected, strict=True):
        with TorchRecorder(check="all") as recorder:
            assert str(program(torch, [])) == str(result)
            assert torch._C._len_torch_function_stack() == 2
        recording = recorder.recording
        check_integrity(recording)
        assert recording.passes[0].is_complete == (program is not call_programs.with_an_error)
        assert (recorder.call_stack._running, recorder.call_stack.applying, sys.gettrace()) == ([], [], None)
        noted += bool(recording.faults)
    assert noted


def test_no_tensor_of_a_function_is_kept(torch: Any) -> None:
    alive: list[weakref.ref[Any]] = []

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            local = x * 2
            alive.append(weakref.ref(local))
            return local + 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            local = g * 2
            alive.append(weakref.ref(local))
            return local + 0

    recording = recorded(lambda: Keeps.apply(torch.ones(2, requires_grad=True)).sum().backward())
    assert [one() for one in alive] == [None, None]
    assert recording.calls[0].steps[1].outputs[0].ref is not None


def test_segments_keep_the_numbers_of_their_calls(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    clip = call_programs.clip(torch, [])

    def program() -> None:
        w = torch.tensor([1.0, -2.0], requires_grad=True)
        for _ in range(3):
            y, _ = clip.apply(w, 0.0)
            y.register_hook(lambda g: g * 2)
            y.sum().backward()

    whole = recorded(program)
    parts = TorchRecorder(after_pass=lambda index: parts.begin_segment())
    with parts:
        program()
    check_integrity(parts.recording)
    described = [
        [(one.id, one.name, one.node, one.pass_, one.step, one.outer, steps_of(r, one)) for one in r.calls]
        for r in (parts.recording, whole)
    ]
    assert described[0] == described[1]
    assert plain(parts.recording.functions) == plain(whole.functions)


def test_recorders_around_each_other_see_the_same(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    for program in PROGRAMS:
        with TorchRecorder() as outer, TorchRecorder(check="all") as inner:
            program(torch, [])
        one, other = outer.recording, inner.recording
        assert one.faults == other.faults == ()
        assert [(each.kind, each.name, each.pass_, each.step) for each in one.calls] == [
            (each.kind, each.name, each.pass_, each.step) for each in other.calls
        ], program.__name__


def test_what_is_seen_is_what_the_function_computed_with(torch: Any) -> None:
    """A random chain of operations inside of a Function: every value is the one that torch computes."""
    choices: list[Callable[[Any], Any]] = [lambda x: x * 2, lambda x: x + 1, lambda x: -x, lambda x: x.exp().log()]
    for seed in range(20):
        chosen = [choices[i] for i in np.random.default_rng(seed).integers(0, 4, 6)]
        seen: list[list[float]] = []

        class Chain(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, chosen: Any, seen: Any) -> Any:
                for one in chosen:
                    x = one(x)
                    seen.append(x.detach().numpy().tolist())
                return x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g, None, None

        x = torch.ones(2, requires_grad=True)
        given = SimpleNamespace(chosen=chosen, seen=seen)
        recording = recorded(lambda one=Chain, a=x, b=given: one.apply(a, b.chosen, b.seen).sum().backward())
        made = iter([shown(recording, out) for step in recording.calls[0].steps for out in step.outputs])
        assert all(one in made for one in seen)  # in this order


def test_a_function_may_use_a_view_that_another_write_has_made_invalid(torch):
    class Shifted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            used = row * 2
            row.add_(1)
            return x + used.sum()

        @staticmethod
        def backward(ctx, grad):
            return grad * row.sum()

    weight = torch.ones(2, 3, requires_grad=True)
    whole = weight * 2
    row, _ = whole.unbind(0)
    with torch.no_grad():
        whole.zero_()
    recording = recorded(lambda: Shifted.apply(weight).sum().backward())
    words = [step.op for call in recording.calls for step in call.steps if step.kind == "operation"]
    assert words == ["mul", "add_", "sum", "add", "sum", "mul"]
