"""Two recordings compared: equal ones, one number that was changed, another order, another dtype."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.recording.comparing import Comparison, compare
from microtape.recording.comparing.courses import compare_courses
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.model import CourseRecord, Recording, Summary
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tests.support.recordings.random_recordings import courses, recordings
from tests.support.recordings.renumbered import renumbered

Program = Callable[[], None]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A random program with two passes, whose operations stand in a list."""
    count = draw(st.integers(1, 8))
    words = st.sampled_from(["add", "mul", "tanh", "sub", "double"])
    lines = [(draw(words), draw(st.integers(0, i + 2)), draw(st.integers(0, i + 2))) for i in range(count)]

    def run() -> None:
        leaves = [mt.tensor(np.linspace(a, 1.0, 3), requires_grad=True) for a in (-1.0, 0.3, 0.7)]
        for _ in range(2):
            values = list(leaves)
            for word, i, j in lines:
                values.append(operation(word, values[i], values[j]))
            values[-1].sum().backward()
            with mt.no_grad():
                for leaf in leaves:
                    if leaf.grad is not None:
                        leaf -= 0.1 * leaf.grad

    return run


def operation(word: str, x: Any, y: Any) -> Any:
    if word == "tanh":
        return x.tanh()
    if word == "double":
        return x * 2.0
    return {"add": x.__add__, "mul": x.__mul__, "sub": x.__sub__}[word](y)


def told(found: Comparison) -> list[tuple[Any, ...]]:
    return [(one.kind, one.steps, one.nodes, one.number) for one in found.differences]


# Equal recordings


@given(recordings())
def test_a_random_recording_is_equal_to_its_copy(recording: Recording) -> None:
    found = compare(recording, copy.deepcopy(recording))
    assert not found.differs
    assert not found.orders
    assert not any(found.unmatched)
    assert found.matching.to_b == {node: node for node in found.matching.a.own}


def test_a_delivery_of_what_was_never_sent_has_its_place_among_those_that_arrive() -> None:
    recording = handmade.diamond()
    (pass_,) = recording.passes
    for i, step in enumerate(pass_.steps):
        deliveries = tuple(one._replace(total=2 * one.term) for one in step.deliveries)
        first = step._replace(grad_inputs=(), deliveries=deliveries)
        steps = [*pass_.steps[:i], first, *pass_.steps[i:]]
        steps = tuple(one._replace(index=index) for index, one in enumerate(steps))
        damaged = dataclasses.replace(recording, passes=(pass_._replace(steps=steps),))
        assert not compare(damaged, copy.deepcopy(damaged)).differences


@given(recordings(), st.sampled_from([handmade.diamond(), handmade.twice(), handmade.failing(), handmade.cut_short()]))
def test_any_two_recordings_can_be_compared(a: Recording, b: Recording) -> None:
    there, back = compare(a, b), compare(b, a)
    assert len(there.unmatched[0]) == len(back.unmatched[1])
    assert there.is_equal in (False, back.is_equal)


@given(courses(), courses())
def test_any_two_courses_can_be_compared(a: tuple[CourseRecord, ...], b: tuple[CourseRecord, ...]) -> None:
    ours, theirs = (dataclasses.replace(handmade.diamond(), courses=one) for one in (a, b))
    there, back = (compare_courses(*both, Tolerance()) for both in ((ours, theirs), (theirs, ours)))
    assert (there.passes, there.sizes) == (back.passes, back.sizes)
    assert [one[:3] for one in there.differences] == [one[:3] for one in back.differences]
    assert there.only_names == back.only_names[::-1]
    assert not compare_courses(ours, ours, Tolerance(0)).differences


@given(programs())
def test_a_program_is_equal_to_itself_to_the_bit(program: Program) -> None:
    found = compare(mt.record(program), mt.record(program), rtol=0)
    assert found.is_equal
    assert found.counts.identical == found.counts.values > 0


@given(programs(), st.integers(0, 99))
def test_numbers_of_nodes_are_of_no_importance(program: Program, seed: int) -> None:
    recording = mt.record(program)
    found = compare(recording, renumbered(recording, seed), rtol=0)
    assert found.is_equal
    assert not found.orders


# One number that differs


def changed(value: Any, chance: int) -> Any:
    value = np.array(value)
    numbers = value.reshape(-1)
    numbers[chance % value.size] += 0.5 + abs(numbers[chance % value.size])  # of a large number, more than its rounding
    return value


@given(programs(), st.integers(0, 999), st.integers(0, 99))
def test_a_gradient_that_was_changed_is_named(program: Program, chance: int, seed: int) -> None:
    a = mt.record(program)
    steps = [(p, step) for p in a.passes for step in p.steps if any(one is not None for one in step.grad_inputs)]
    one, step = steps[chance % len(steps)]
    gradients = list(step.grad_inputs)
    number = next(i for i, value in enumerate(gradients) if value is not None)
    before = gradients[number]
    gradients[number] = changed(before, chance)
    other = [*one.steps]
    other[step.index] = step._replace(grad_inputs=tuple(gradients))
    passes = [*a.passes]
    passes[one.index] = one._replace(steps=tuple(other))
    b = renumbered(dataclasses.replace(a, passes=tuple(passes)), seed)
    found = compare(a, b)
    assert [(d.kind, d.passes, d.steps, d.number) for d in found.differences] == [
        ("sent", (one.index, one.index), (step.index, step.index), number)
    ]
    assert found.differences[0].nodes is not None
    assert found.differences[0].nodes[0] == step.node
    assert found.differences[0].measured.absolute == pytest.approx(abs(gradients[number] - before).max())


@given(programs(), st.integers(0, 999), st.integers(0, 99))
def test_a_value_that_was_changed_is_named(program: Program, chance: int, seed: int) -> None:
    a = mt.record(program)
    nodes = [node for node in a.nodes if node.outputs]
    node = nodes[chance % len(nodes)]
    ref = node.outputs[0]
    assert ref is not None
    tensor = a.tensors[ref.tensor]
    tensors = [*a.tensors]
    tensors[ref.tensor] = tensor._replace(values={**tensor.values, ref.version: changed(a.value(ref), chance)})
    b = renumbered(dataclasses.replace(a, tensors=tuple(tensors)), seed)
    found = compare(a, b)
    assert [(d.kind, d.steps, d.number, d.follows) for d in found.differences] == [("value", None, 0, False)]
    assert found.differences[0].nodes is not None
    sides, named = found.matching.a, found.differences[0].nodes[0]
    for numbers in (sides.below_with_constants, sides.above):  # not `==`: some nodes are interchangeable
        assert numbers[named] == numbers[node.id]


def test_what_follows_is_told_from_where_it_begins() -> None:
    def program(rate: float) -> None:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(3):
            (w * w).sum().backward()
            with mt.no_grad():
                w -= rate * w.grad
            w.grad = None

    found = compare(mt.record(lambda: program(0.1)), mt.record(lambda: program(0.11)))
    assert found.first is not None
    assert (found.first.kind, found.first.passes) == ("input", (1, 1))
    assert len(found.differences) > 10
    assert found.origins == (found.first,)


@given(st.sets(st.integers(1, 6)))
def test_what_follows_is_told_through_values_that_are_not_known(hidden: set[int]) -> None:
    def program(factor: float) -> None:
        y = mt.tensor([1.0, 2.0], requires_grad=True) * factor
        for _ in range(6):
            y = y.tanh()
        y.sum().backward()

    a, b = mt.record(lambda: program(3.0)), mt.record(lambda: program(2.0))
    results = [one.outputs[0] for one in a.nodes if one.op == "tanh"]
    forgotten = {results[i - 1].tensor for i in hidden}
    tensors = [one._replace(values={}) if i in forgotten else one for i, one in enumerate(a.tensors)]
    found = compare(dataclasses.replace(a, tensors=tuple(tensors)), b)
    assert len(found.differences) > 5
    assert found.origins == (found.first,)


def test_a_hook_that_changes_a_gradient_is_where_it_begins() -> None:
    def program(factor: float) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        h = x.exp()
        h.register_hook(lambda g: g * factor)
        h.sum().backward()

    found = compare(mt.record(lambda: program(1.0)), mt.record(lambda: program(3.0)))
    assert found.first is not None
    assert found.first.kind == "arrived"
    assert [one.kind for one in found.origins] == ["arrived"]


# Rounding


def network(dtype: str) -> Program:
    def run() -> None:
        chance = np.random.default_rng(3)
        w, b, v = (mt.tensor(chance.normal(size=size).astype(dtype), requires_grad=True)
                   for size in ((6, 8), (8,), (8, 1)))  # fmt: skip
        x = mt.tensor(chance.normal(size=(20, 6)).astype(dtype))
        for _ in range(3):
            h = (x @ w + b).tanh()
            h = (h - h.mean(0)) / (h.var(0) + 1e-5).sqrt()
            ((h @ v) ** 2).mean().backward()
            with mt.no_grad():
                for p in (w, b, v):
                    p -= 0.1 * p.grad
                    p.grad = None

    return run


@pytest.mark.parametrize("coarse", ["float16", "float32"])
def test_a_coarser_dtype_agrees_within_its_rounding(coarse: str) -> None:
    found = compare(mt.record(network(coarse)), mt.record(network("float64")))
    assert told(found) == []
    assert found.is_equal
    assert set(found.dtypes) == {(coarse, "float64")}
    assert found.worst > 1e-8
    assert compare(found.a, found.b, rtol=0).differences
    assert compare(found.a, found.b, atol=1.0, rtol=0.0).is_equal


def test_dtypes_that_numpy_does_not_have_are_known_by_their_names() -> None:
    a = mt.record(network("float32"))
    noisy = dataclasses.replace(
        a,
        tensors=tuple(
            one._replace(dtype="bfloat16", values={k: v * np.float32(1.004) for k, v in one.values.items()})
            for one in a.tensors
        ),
    )
    assert compare(a, noisy).is_equal
    assert compare(
        a, dataclasses.replace(noisy, tensors=tuple(t._replace(dtype="float32") for t in noisy.tensors))
    ).first


def test_small_elements_beside_large_ones_do_not_alarm() -> None:
    def program(small: float) -> None:
        x = mt.tensor(np.array([1e6, small]), requires_grad=True)
        (x * 1.0).sum().backward()

    assert compare(mt.record(lambda: program(1e-9)), mt.record(lambda: program(2e-9))).is_equal
    assert compare(mt.record(lambda: program(1e-9)), mt.record(lambda: program(2e-9)), rtol=0).first


def test_a_gradient_that_is_nothing_but_rounding_does_not_alarm() -> None:
    def program(dtype: str) -> None:  # a bias before a normalisation: its gradient is zero
        b = mt.tensor(np.zeros(4, dtype), requires_grad=True)
        x = mt.tensor(np.random.default_rng(0).normal(size=(64, 4)).astype(dtype))
        h = x + b
        h = (h - h.mean(0)) / h.std(0)
        ((h**2) * mt.tensor(np.linspace(0, 1, 64, dtype=dtype)).reshape(-1, 1)).sum().backward()

    found = compare(mt.record(lambda: program("float32")), mt.record(lambda: program("float64")))
    assert found.worst > 0.1
    assert told(found) == []


def test_nan_equals_nan_and_zero_equals_minus_zero_unless_bits_are_asked_for() -> None:
    def program(zero: float) -> None:
        x = mt.tensor([np.nan, zero, np.inf], requires_grad=True)
        (x * 2.0).sum().backward()

    a, b = mt.record(lambda: program(0.0)), mt.record(lambda: program(-0.0))
    assert compare(a, b).is_equal
    assert compare(a, a, rtol=0).is_equal
    assert [one.kind for one in compare(a, b, rtol=0, atol=0).origins] == ["input"]


# Order


def test_another_order_of_evaluation_is_not_a_difference() -> None:
    def program(first: str) -> None:
        x, y = mt.tensor([0.3, 0.7], requires_grad=True), mt.tensor([0.1, 0.9], requires_grad=True)
        parts: dict[str, Any] = {}
        for name in (first, "sin" if first == "exp" else "exp"):
            parts[name] = x.exp() if name == "exp" else y.sin()
        (parts["exp"] * parts["sin"]).sum().backward()

    found = compare(mt.record(lambda: program("exp")), mt.record(lambda: program("sin")))
    assert found.is_equal
    (order,) = found.orders
    assert [found.a.nodes[order.nodes[0]].op, found.b.nodes[order.nodes[1]].op] == ["sin", "exp"]


def test_terms_that_arrive_in_another_order_are_compared_by_their_sum() -> None:
    def program(order: Sequence[int]) -> None:
        x = mt.tensor([0.1, 0.2, 0.3], requires_grad=True)
        parts: list[Any] = [None] * 3
        for i in order:
            parts[i] = (x.exp, x.sin, x.cos)[i]()
        (parts[0] * 1e3 + parts[1] + parts[2]).sum().backward()

    found = compare(mt.record(lambda: program((0, 1, 2))), mt.record(lambda: program((2, 0, 1))))
    assert found.is_equal
    assert found.orders


# What cannot be compared


def test_summaries_are_compared_with_arrays() -> None:
    a = mt.record(network("float64"))
    b = dataclasses.replace(
        a, tensors=tuple(t._replace(values={k: summarize(v) for k, v in t.values.items()}) for t in a.tensors)
    )
    found = compare(a, b)
    assert not found.differences
    assert found.counts.by_statistics > 10
    assert found.counts.identical < found.counts.values


def test_values_that_were_not_recorded_are_counted() -> None:
    a = handmade.diamond()
    b = dataclasses.replace(a, tensors=tuple(one._replace(values={}) for one in a.tensors))
    found = compare(a, b)
    assert not found.differences
    assert found.counts.unknown == 5
    assert not found.is_complete
    assert not found.is_equal


def test_a_summary_without_statistics_is_not_equal_to_anything() -> None:
    a = handmade.diamond()
    empty = Summary((), "float64", None, None, None, None, 0, 0, 0, (), ())
    b = dataclasses.replace(a, tensors=tuple(one._replace(values={0: empty}) for one in a.tensors))
    assert compare(b, b).counts.unknown == 5


def test_passes_are_paired_by_their_numbers() -> None:
    a = handmade.twice()
    found = compare(a, dataclasses.replace(a, passes=a.passes[1:]))
    assert found.passes == ((1, 0),)
    assert found.only == ((0,), ())
    assert not found.differences
    assert not found.is_equal
    assert compare(a, dataclasses.replace(a, passes=a.passes[1:]), passes=([1], [0])).only == ((), ())


def test_passes_without_common_numbers_are_paired_in_their_order() -> None:
    a = handmade.diamond()
    later = dataclasses.replace(a, passes=(a.passes[0]._replace(index=6),))
    assert compare(a, later).is_equal


def test_a_fault_of_the_recorder_makes_the_comparison_incomplete() -> None:
    a = handmade.diamond()
    assert not compare(a, dataclasses.replace(a, notes=("not recorded: a step",))).is_equal
    assert not compare(a, handmade.cut_short()).is_equal


# Ends of passes and programs


def test_a_pass_that_fails_in_only_one_of_them() -> None:
    a, b = handmade.failing(), handmade.diamond()
    assert "error" in {one.kind for one in compare(a, b).differences}
    assert compare(a, a).is_equal


def test_a_node_that_only_one_pass_evaluates() -> None:
    def program(wanted: bool) -> None:
        x, y = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        (x * y).sum().backward(inputs=[x, y] if wanted else [x])

    found = compare(mt.record(lambda: program(True)), mt.record(lambda: program(False)))
    assert {one.kind for one in found.differences} == {"not evaluated", "captured", "sent"} - {
        "captured"
    } or found.first


def test_a_returned_gradient() -> None:
    def program(scale: float) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        (x**2).sum()
        mt.autograd.grad((x * scale).sum(), [x])

    found = compare(mt.record(lambda: program(2.0)), mt.record(lambda: program(3.0)))
    assert [one.kind for one in found.differences][-1] == "captured"
    assert compare(found.a, found.a, rtol=0).is_equal


def test_gradients_recorded_during_backward_are_compared_too() -> None:
    def program(power: float) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        (g,) = mt.autograd.grad((x**3).sum(), [x], create_graph=True)
        (g**power).sum().backward()

    a = mt.record(lambda: program(2.0))
    assert compare(a, mt.record(lambda: program(2.0)), rtol=0).is_equal
    found = compare(a, mt.record(lambda: program(3.0)))
    assert found.first is not None
    assert found.first.passes == (1, 1)


def test_a_leaf_whose_grad_was_not_reset() -> None:
    def program(resets: bool) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            (x * x).sum().backward()
            if resets:
                x.grad = None

    found = compare(mt.record(lambda: program(True)), mt.record(lambda: program(False)))
    assert found.first is not None
    assert (found.first.kind, found.first.passes, found.first.measured.how) == ("grad before", (1, 1), "missing")
    assert found.origins == (found.first,)


def test_empty_recordings_are_equal_and_nothing_was_compared() -> None:
    empty = Recording("", (), (), (), {})
    assert compare(empty, empty).is_equal
    assert compare(empty, empty).counts.values == 0


def test_a_reference_to_a_tensor_is_not_a_reference_to_its_other_version() -> None:
    def program(first: float) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        h = x * first
        h *= 6.0 / first
        h.sum().backward()

    found = compare(mt.record(lambda: program(2.0)), mt.record(lambda: program(3.0)))
    assert [one.tensors[0].version for one in found.differences if one.kind == "value" and one.tensors] == [0]


def test_the_same_error_under_the_name_of_another_engine() -> None:
    def program() -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y += 1
        with contextlib.suppress(RuntimeError):
            y.sum().backward()

    a = mt.record(program)
    error = a.passes[0].error
    assert error is not None
    assert error.type == "ModifiedInPlaceError"

    def raising(type: str) -> Recording:
        return dataclasses.replace(a, passes=(a.passes[0]._replace(error=error._replace(type=type)),))

    assert compare(a, raising("RuntimeError")).is_equal
    assert compare(raising("RuntimeError"), a).is_equal
    assert [one.kind for one in compare(a, raising("ValueError")).differences] == ["error"]
    assert [one.kind for one in compare(a, raising("DetachedInPlaceError")).differences] == ["error"]


def test_what_no_pass_uses_may_be_missing() -> None:
    def program(extra: bool) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        unused = x.exp() if extra else None
        (x * x).sum().backward()
        del unused

    found = compare(mt.record(lambda: program(True)), mt.record(lambda: program(False)))
    assert found.is_equal
    assert found.unmatched == ((), ())
    assert [found.a.nodes[node].op for node in found.unused[0]] == ["exp"]


def test_a_gradient_that_goes_nowhere_may_be_left_out() -> None:
    def program() -> None:
        x, w = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        mt.autograd.grad((x * w).sum(), [x])

    a = mt.record(program)
    one = a.passes[0]
    step = next(step for step in one.steps if a.nodes[step.node].op == "mul")
    assert [delivery.output for delivery in step.deliveries] == [0]
    assert step.grad_inputs[1] is not None

    def without(number: int) -> Recording:
        left = tuple(None if i == number else value for i, value in enumerate(step.grad_inputs))
        steps = tuple(step._replace(grad_inputs=left) if each is step else each for each in one.steps)
        return dataclasses.replace(a, passes=(one._replace(steps=steps),))

    assert compare(a, without(1), rtol=0).is_equal
    assert compare(without(1), a, rtol=0).is_equal
    assert [found.kind for found in compare(a, without(0)).differences] == ["sent"]
