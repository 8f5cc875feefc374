"""What a recording holds of the user's functions: their steps, their variables, and what Functions promised."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microtape as mt
from microtape import load, save
from microtape.recording.model.model import CallRecord, CallStep, Operand, Recording
from microtape.recording.writing.calls.call import CALLS, FIRST, LAST, LONG
from microtape.recording.writing.recorder import Recorder
from tests.support import call_programs
from tests.support.call_programs import PROGRAMS, Log, Program
from tests.support.recordings.live import leaf, recorded
from tests.support.recordings.random_recordings import plain


def run(program: Program) -> tuple[Recording, Log]:
    log: Log = []
    return recorded(lambda: program(mt, log)), log


def shown(recording: Recording, operand: Operand) -> Any:
    """A value as Python writes it."""
    return operand.text or np.asarray(recording.value(operand.ref)).tolist()


def lines(recording: Recording, call: CallRecord) -> list[tuple[Any, ...]]:
    return [(one.kind, one.op, [shown(recording, out) for out in one.outputs]) for one in call.steps]


def variables(recording: Recording, step: CallStep) -> dict[str, Any]:
    return {one.name: shown(recording, one.value) for one in step.variables}


def source_line(recording: Recording, step: CallStep) -> str:
    place = step.place
    assert place is not None
    return recording.sources[place.file].splitlines()[place.line - 1].strip()


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_call_is_recorded_from_its_first_line_to_its_last(program: Program, tmp_path: Path) -> None:
    recording, log = run(program)
    assert recording.faults == ()
    assert set(log) == {one.name for one in recording.calls}
    for call in recording.calls:
        assert call.place is not None
        assert call.name.rpartition(".")[2] in recording.sources[call.place.file].splitlines()[call.place.line - 1]
        assert call.steps[0].kind == "enter"
        assert call.steps[-1].kind == ("raise" if call.error else "return")
        assert all(one.place is not None for one in call.steps)
        if call.kind not in ("forward", "setup_context", "jvp", "pack hook"):
            (steps,) = [one.steps for one in recording.passes if one.index == call.pass_]
            assert call.step is not None
            assert call.step == len(steps) or steps[call.step].node == call.node
    save(recording, tmp_path / "calls.tape")
    assert plain(load(tmp_path / "calls.tape")) == plain(recording)


def test_a_forward_with_its_values_and_variables() -> None:
    recording, _ = run(call_programs.with_several_outputs)
    forward, backward = recording.calls
    assert (forward.kind, forward.pass_) == ("forward", None)
    assert (backward.kind, backward.pass_, backward.step) == ("backward", 0, 2)
    assert lines(recording, forward) == [
        ("enter", "Clip.forward", []),
        ("operation", "greater", [[False, True]]),
        ("operation", "mul", [[-0.0, 2.0]]),
        ("return", "return", [[-0.0, 2.0], [False, True]]),
    ]
    assert [set(variables(recording, one)) for one in forward.steps] == [
        {"x", "low", "log"},
        {"x", "low", "log"},
        {"ctx.low", "x", "low", "mask", "log"},
        {"ctx.low", "x", "low", "mask", "log"},
    ]
    assert variables(recording, forward.steps[-1])["mask"] == [False, True]
    assert lines(recording, backward) == [
        ("enter", "Clip.backward", []),
        ("unpack", "saved_tensors", [[False, True]]),
        ("operation", "mul", [[0.0, 4.0]]),
        ("return", "return", [[0.0, 4.0], "None"]),
    ]
    assert [source_line(recording, one) for one in backward.steps] == [
        "def backward(ctx: Any, g: Any, g_mask: Any) -> Any:",
        "(mask,) = ctx.saved_tensors",
        "kept = g * mask",
        "return kept, None",
    ]
    assert variables(recording, backward.steps[-1])["kept"] == [0.0, 4.0]


def test_what_the_function_promised() -> None:
    recording, _ = run(call_programs.with_several_outputs)
    (function,) = recording.functions
    assert [(one.name, shown(recording, one.value), one.needs_gradient, one.edge) for one in function.arguments] == [
        ("x", [-1.0, 2.0], True, 0),
        ("low", "0.0", False, None),
    ]
    assert [(one.name, one.role, one.reason) for one in function.outputs] == [
        ("", "differentiable", ""),
        ("mask", "non-differentiable", "mark_non_differentiable"),
    ]
    assert [one.name for one in recording.nodes[function.node].saved] == ["mask"]
    assert [(one.name, one.value.text) for one in function.attributes] == [("low", "0.0")]
    assert (function.materializes_grads, function.once_differentiable) == (True, False)


def test_an_argument_that_is_written_to_is_known_before_and_after() -> None:
    recording, _ = run(call_programs.with_a_written_argument)
    (function,) = recording.functions
    node = recording.nodes[function.node]
    before, after = function.arguments[0].value.ref, node.outputs[0]
    assert before is not None
    assert after is not None
    assert (before.tensor, before.version, after.version) == (after.tensor, 0, 2)  # add_ and mark_dirty, as in torch
    assert node.operands[0].ref == before
    assert np.asarray(recording.value(before)).tolist() == [2.0, 4.0]
    assert np.asarray(recording.value(after)).tolist() == [3.0, 5.0]
    assert (function.outputs[0].role, function.outputs[0].argument) == ("dirty", 0)
    assert [(one.op, one.in_place) for one in recording.calls[0].steps if one.kind == "operation"] == [("add", True)]


def test_a_write_into_a_view_belongs_to_the_node_that_replaced_the_history() -> None:
    class Halve(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(0.5)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 0.5

    def program() -> None:
        y = leaf([1.0, 2.0, 3.0]) * 1
        Halve.apply(y[1:])
        y.sum().backward()

    recording = recorded(program)
    (function,) = recording.functions
    assert recording.nodes[function.node].kind == "copy_slices"
    assert {one.node for one in recording.calls} == {function.node}


def test_hooks_of_every_kind_in_their_order() -> None:
    recording, _ = run(call_programs.with_hooks)
    kinds = [(one.kind, one.name) for one in recording.calls]
    assert kinds == [
        ("tensor hook", "on_tensor"),
        ("node pre-hook", "before"),
        ("node post-hook", "after"),
        ("post-accumulate hook", "accumulated"),
    ]
    hooks = [(one.kind, one.name) for _, step in recording.steps() for one in step.hooks]
    assert [kind for kind, _ in hooks] == ["tensor", "node pre", "node post", "post accumulate"]
    (accumulated,) = [one for _, step in recording.steps() for one in step.hooks if one.kind == "post accumulate"]
    before, after = np.asarray(accumulated.before), np.asarray(accumulated.after)
    assert (before.tolist(), after.tolist()) == ([9.0, 9.0], [90.0, 90.0])


@pytest.mark.parametrize("kind", ["tensor", "node pre", "node post", "post accumulate"])
def test_a_hook_that_raises_has_a_call_and_changes_nothing(kind: str) -> None:
    def fails(*gradients: Any) -> None:
        raise ValueError("no")

    def program() -> None:
        w = leaf([1.0, 2.0])
        y = w * 3
        if kind == "tensor":
            y.register_hook(fails)
        elif kind == "post accumulate":
            w.register_post_accumulate_grad_hook(fails)
        else:
            getattr(y.grad_fn, {"node pre": "register_prehook", "node post": "register_hook"}[kind])(fails)
        with pytest.raises(ValueError, match="no"):
            y.sum().backward()

    recording = recorded(program)
    (call,) = recording.calls
    assert (call.name, call.error is None) == ("fails", False)
    assert [one for _, step in recording.steps() for one in step.hooks] == []


def test_calls_inside_of_calls() -> None:
    recording, _ = run(call_programs.with_a_function_in_a_function)
    outer, inner, backward, again = recording.calls
    assert [one.outer for one in recording.calls] == [None, 0, None, 2]
    (step,) = [one for one in outer.steps if one.kind == "call"]
    assert (step.op, step.inner, shown(recording, step.outputs[0])) == ("Clip.forward", inner.id, [-0.0, 2.0])
    (step,) = [one for one in backward.steps if one.kind == "call"]
    assert step.inner == again.id
    assert step.node is not None
    assert recording.nodes[step.node].op == "Clip"


def test_a_backward_inside_of_a_backward() -> None:
    recording, _ = run(call_programs.with_a_backward_in_a_backward)
    _, backward, hook = recording.calls
    (step,) = [one for one in backward.steps if one.kind == "pass"]
    assert (step.op, step.inner) == ("grad", 1)
    assert (backward.pass_, hook.pass_, hook.outer) == (0, 1, backward.id)
    assert not any(one.kind == "call" for one in backward.steps)  # it is a call of the inner pass


def test_a_recomputation_names_the_nodes_that_it_records() -> None:
    recording, _ = run(call_programs.with_a_checkpoint)
    (call,) = recording.calls
    assert (call.kind, call.name) == ("recomputation", "block")
    made = [one.node for one in call.steps if one.kind == "operation"]
    assert [recording.nodes[node].op for node in made if node is not None] == ["mul", "mul"][: len(made)]
    assert call.error is None  # stopping early is no failure


def test_an_exception_is_found_at_its_line_with_the_variables() -> None:
    recording, _ = run(call_programs.with_an_error)
    _, call = recording.calls
    assert call.error is not None
    assert (call.error.type, call.error.message) == ("ValueError", "a factor of 2.0")
    last = call.steps[-1]
    assert last.place is not None
    assert last.place.function.endswith("scaled")
    assert variables(recording, last)["factor"] == "2.0"


def test_long_calls_and_many_calls_have_a_budget() -> None:
    class Long(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            for _ in range(FIRST + LAST + 100):
                x = x + 1
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    def many() -> None:
        x = leaf(1.0)
        for _ in range(CALLS + 5):
            x.register_hook(lambda g: None)
        x.register_hook(fails)
        (x * 2).backward()

    def fails(gradient: Any) -> None:
        raise ValueError("the last one")

    (call, _) = recorded(lambda: Long.apply(leaf(1.0)).backward()).calls
    assert (len(call.steps), call.left_out, call.left_out_at) == (FIRST + LAST, 102, FIRST)
    assert [shown_last.kind for shown_last in call.steps[-2:]] == ["operation", "return"]
    recording = mt.record(many)
    assert len(recording.calls) == CALLS + 1
    assert recording.calls[-1].name == "test_long_calls_and_many_calls_have_a_budget.<locals>.fails".rpartition(".")[2]
    assert recording.notes == ("6 calls of Functions and hooks were not kept, after the first 1,000",)


def test_of_a_very_long_call_the_beginning_and_the_end_are_kept() -> None:
    class Solver(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            for _ in range(LONG):
                g = g + 1
            raise ValueError("no convergence")

    recording = mt.record(Solver.apply(leaf(1.0)).backward)
    call = recording.calls[-1]
    assert (len(call.steps), call.left_out, call.left_out_at) == (FIRST + 1, LONG + 1 - FIRST, FIRST)
    assert call.steps[-1].kind == "raise"
    assert variables(recording, call.steps[-1])["g"] == LONG + 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_debugger_keeps_its_trace_function(program: Program) -> None:
    seen = []

    def debugger(frame: Any, event: str, argument: Any) -> None:
        seen.append(event)

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        recording, log = run(program)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    assert seen
    assert {one.name for one in recording.calls} == set(log)
    assert recording.faults == ()


def test_nothing_is_traced_afterwards() -> None:
    for program in PROGRAMS:
        run(program)
        assert sys.gettrace() is None


def test_a_function_that_nobody_records_is_no_call() -> None:
    def program() -> None:
        with mt.no_grad():
            call_programs.clip(mt, []).apply(mt.tensor([1.0]), 0.0)

    recording = recorded(program)
    assert (recording.calls, recording.functions) == ((), ())


def test_segments_keep_the_numbers_of_their_calls() -> None:
    def program() -> None:
        w = leaf([1.0, -2.0])
        for _ in range(3):
            y, _ = call_programs.clip(mt, []).apply(w, 0.0)
            y.register_hook(lambda g: g * 2)
            y.sum().backward()

    with Recorder() as whole:
        program()

    def next_segment(index: int) -> None:
        parts.begin_segment()

    parts = Recorder(after_pass=next_segment)
    with parts:
        program()
    assert names(parts.recording) == names(whole.recording)
    assert plain(parts.recording.functions) == plain(whole.recording.functions)


def names(recording: Recording) -> list[tuple[Any, ...]]:
    return [
        (one.id, one.name, one.node, one.pass_, one.step, one.outer, lines(recording, one)) for one in recording.calls
    ]


def test_what_is_seen_is_what_the_function_computed_with() -> None:
    """A random chain of operations inside of a Function: every value is the one that numpy computes."""
    choices: list[Callable[[Any], Any]] = [lambda x: x * 2, lambda x: x + 1, lambda x: -x, lambda x: x.exp().log()]
    for seed in range(20):
        chosen = [choices[i] for i in np.random.default_rng(seed).integers(0, 4, 6)]
        seen: list[list[float]] = []

        class Chain(mt.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                for one in chosen:  # noqa: B023 - it is called at once
                    x = one(x)
                    seen.append(x.tolist())  # noqa: B023
                return x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g

        recording = recorded(lambda function=Chain: function.apply(leaf([1.0, 2.0])))
        made = [out for kind, _, (out, *_) in lines(recording, recording.calls[0])[1:] if kind == "operation"]
        computed = iter(made)
        assert all(one in computed for one in seen)  # in this order


def test_pack_and_unpack_hooks_belong_to_the_node_that_saved() -> None:
    recording, _ = run(call_programs.with_packed_tensors)
    assert [(one.kind, recording.nodes[one.node or 0].op) for one in recording.calls] == [
        ("pack hook", "pow"),
        ("unpack hook", "pow"),
    ]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_recorder_keeps_no_variable_of_a_function_that_has_ended(program: Program) -> None:
    with Recorder() as recorder:
        program(mt, [])
    stack = recorder.call_stack
    assert (stack._running, stack._arguments, stack._names, stack._raised) == ([], {}, {}, None)
