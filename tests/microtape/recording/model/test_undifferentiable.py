"""Outputs without a gradient, each with its reason."""

import pytest

import microtape as mt
from microtape.recording.model.undifferentiable import undifferentiable_outputs, why_border, why_undifferentiable


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        inside, steps = x.abs() < 1, x.floor()
        ctx.save_for_backward(inside)
        ctx.mark_non_differentiable(inside, steps)
        return x.clamp(-1, 1), inside, steps

    @staticmethod
    def backward(ctx, g, *_):
        (inside,) = ctx.saved_tensors
        return g * inside


def recorded(run):
    with mt.record() as recorder:
        run(mt.tensor([0.5, 2.0], requires_grad=True) * 1)
    return recorder.recording


@pytest.mark.parametrize(
    ("run", "reasons"),
    [
        (lambda x: x.sort(), [(1, "int64")]),
        (lambda x: x.topk(1), [(1, "int64")]),
        (lambda x: x.max(dim=0), [(1, "int64")]),
        (lambda x: x.exp(), []),
        (lambda x: x.unbind(), []),
    ],
)
def test_indices_have_no_gradient_and_numbers_have(run, reasons):
    recording = recorded(run)
    assert [(k, why) for k, _, why in undifferentiable_outputs(recording, recording.nodes[-1])] == reasons


def test_what_a_function_has_marked_is_told_with_the_line_whatever_its_dtype():
    def run(x):
        y, inside, steps = Clip.apply(x)
        (y.sum() + inside.sum() + steps.sum()).backward()

    recording = recorded(run)
    node = next(one for one in recording.nodes if one.op == "Clip")
    reasons = [why_undifferentiable(recording, node, k) for k in range(3)]
    assert reasons[0] == ""
    assert reasons[1] == reasons[2]
    file, line = reasons[1].removeprefix("marked by mark_non_differentiable at ").rsplit(":", 1)
    (source,) = (text for path, text in recording.sources.items() if path.endswith(file))
    assert "mark_non_differentiable" in source.splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (lambda x: x.argmax(), "an argmax has no derivative"),
        (lambda x: x.argsort(), "an argsort has no derivative"),
        (lambda x: x > 0, "a comparison has no derivative"),
        (lambda x: x == x, "a comparison has no derivative"),
        (lambda x: x.isnan(), "a comparison has no derivative"),
        (lambda x: mt.count_nonzero(x), "int64"),
    ],
)
def test_an_operation_off_the_tape_says_why_its_result_has_no_gradient(run, reason):
    def kept(x):
        result = run(x)
        (x * result).sum().backward()

    recording = recorded(kept)
    assert [why_border(recording, one) for one in recording.borders if one.kind == "not differentiable"] == [reason]


def test_an_output_that_does_not_exist_has_no_reason():
    recording = recorded(lambda x: x.sum())
    assert why_undifferentiable(recording, recording.nodes[-1], 5) == ""
