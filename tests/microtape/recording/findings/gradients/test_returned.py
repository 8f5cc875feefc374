"""What the backward of a Function returned: whether it is a fault, how grave, and that a fault has one finding."""

import pytest

import microtape as mt
from microtape.recording.findings import findings
from microtape.recording.writing.recorder import Recorder


def custom(forward, backward):
    return type(
        "Custom", (mt.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def found(program, check=None):
    """The findings about what was returned: their kinds and severities."""
    with Recorder(check=check) as recorder:
        program()
    return [(one.kind, one.severity) for one in findings(recorder.recording)]


def tensors(*shapes):
    return [mt.arange(1.0, 1 + mt.zeros(shape).numel()).reshape(shape).requires_grad_() for shape in shapes]


HALF = custom(lambda ctx, x, y: x * 2 + y, lambda ctx, grad: (grad * 2, None))
FLAT = custom(lambda ctx, x, y: x * 2 + (y > 0), lambda ctx, grad: (grad * 2, None))
STOP = custom(lambda ctx, x, y: x + y, lambda ctx, grad: (None, None))


@pytest.mark.parametrize(
    ("function", "check", "expected"),
    [
        (HALF, None, [("missing gradient", "warning")]),
        (HALF, "functions", [("missing gradient", "error")]),
        (FLAT, "functions", []),
        (STOP, "functions", [("missing gradient", "notice"), ("missing gradient", "notice")]),
    ],
)
def test_none_for_an_argument_that_gets_a_gradient_elsewhere(function, check, expected):
    x, y = tensors((2,), (2,))
    assert found(lambda: (function.apply(x, y) * x * y).sum().backward(), check) == expected


def test_a_leaf_that_gets_no_gradient_because_of_it_has_one_finding():
    x, y = tensors((2,), (2,))
    assert found(lambda: HALF.apply(x, (y * 2).exp()).sum().backward()) == [("no gradient", "warning")]
    x, y = tensors((2,), (2,))
    assert found(lambda: (STOP.apply(x, y) * x).sum().backward()) == [("no gradient", "notice")]


@pytest.mark.parametrize("check", [None, "functions"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda ctx, grad: (grad, grad), [("fitted gradient", "notice")]),
        (lambda ctx, grad: (grad, grad.sum(0)), []),
        (lambda ctx, grad: (grad, grad.sum(0).double()), [("fitted gradient", "notice")]),
        (lambda ctx, grad: (grad, grad.sum(0).half()), [("fitted gradient", "warning")]),
        (lambda ctx, grad: (grad, grad.sum(0).to(mt.int64)), [("fitted gradient", "warning")]),
    ],
)
def test_a_gradient_of_another_shape_or_dtype(given, expected, check):
    x, bias = tensors((2, 3), (3,))
    function = custom(lambda ctx, x, bias: x + bias, given)
    assert found(lambda: function.apply(x, bias).sum().backward(), check) == expected


@pytest.mark.parametrize(("check", "severity"), [(None, "warning"), ("functions", "error")])
def test_a_shape_that_comes_from_nowhere_is_one_fault(check, severity):
    x, shift = tensors((3, 1), (3,))
    outer = custom(lambda ctx, x, shift: x.squeeze(1) + shift, lambda ctx, grad: (grad * mt.ones(3, 1), grad))
    weights = mt.tensor([1.0, 2.0, 3.0])
    assert found(lambda: (outer.apply(x, shift) * weights).sum().backward(), check) == [("fitted gradient", severity)]


def test_a_gradient_that_is_summed_in_the_right_way_and_wrong_for_another_reason():
    x, bias = tensors((2, 3), (3,))
    twice = custom(lambda ctx, x, bias: x + bias, lambda ctx, grad: (grad, 2 * grad))
    assert found(lambda: twice.apply(x, bias).sum().backward(), "functions") == [
        ("wrong derivative", "error"),
        ("fitted gradient", "notice"),
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda ctx, grad: (grad * 2, grad * 3), [("unneeded gradient", "notice")]),
        (lambda ctx, grad: (grad, grad), []),
        (lambda ctx, grad: ((both := grad * 2), both), []),
        (lambda ctx, grad: (grad * 2, grad * 3 if ctx.needs_input_grad[1] else None), []),
    ],
)
def test_only_work_of_its_own_is_wasted(given, expected):
    (x,) = tensors((2,))
    function = custom(lambda ctx, x, y: x + y, given)
    assert found(lambda: function.apply(x, mt.ones(2)).sum().backward()) == expected


def test_several_steps_are_one_finding():
    x, y = tensors((2,), (2,))

    def program():
        for _ in range(3):
            (HALF.apply(x, y) * y).sum().backward()

    with Recorder() as recorder:
        program()
    (one,) = [one for one in findings(recorder.recording) if one.kind == "missing gradient"]
    assert "So it is in 3 steps of the recorded passes." in one.explanation
