"""The words about the check of a derivative."""

import numpy as np
import pytest

import microtape as mt
from microtape.recording.writing.recorder import Recorder
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.jacobians import MOST, derivative_lines
from tui.words.trace import trace_moment


def custom(forward, backward):
    """A Function of these two."""
    return type(
        "Custom", (mt.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def lines_of(program, op="Custom", *, width=80, ascii=False):
    with Recorder(check="all") as recorder:
        program()
    cursor = StepCursor.open(recorder.recording).goto(op)
    return [plain(one, ascii=ascii).rstrip() for one in derivative_lines(cursor, cursor.node, width)]


TRIPLED = custom(lambda ctx, x: x * 2, lambda ctx, grad: grad * 3)


def test_a_large_gradient_shows_the_elements_that_differ_most():
    x = mt.tensor(np.linspace(1.0, 2.0, 20).reshape(4, 5), requires_grad=True)
    weight = mt.tensor(np.arange(20.0).reshape(4, 5))
    lines = lines_of(lambda: (TRIPLED.apply(x) * weight).sum().backward())
    start = next(i for i, one in enumerate(lines) if one.startswith("the gradient for"))
    assert lines[start] == "the gradient for x   all its elements were checked"
    assert lines[start + 1] == "✗ x[3, 4]  it sent 57, differences give 38"
    assert lines[start + MOST + 1] == "  and 14 more, none of which differs more"


def test_of_a_very_large_one_some_elements_were_checked():
    x = mt.tensor(np.linspace(1.0, 2.0, 400), requires_grad=True)
    lines = lines_of(lambda: TRIPLED.apply(x).sum().backward())
    assert "the gradient for x   63 of its 400 elements were checked" in lines


@pytest.mark.parametrize("width", [60, 74, 110])
def test_a_wide_jacobian_comes_in_blocks_that_fit_the_ones_with_wrong_entries_first(width):
    def backward(ctx, grad):
        wrong = grad * 2
        wrong[15] = 0
        return wrong

    twice = custom(lambda ctx, x: x * 2, backward)
    x = mt.tensor(np.linspace(1.0, 2.0, 16), requires_grad=True)
    lines = lines_of(lambda: twice.apply(x).sum().backward(), width=width)
    assert "✗ wrong: 1 of 256 derivatives differ from finite differences" in lines
    matrix = lines[lines.index("  Rows that are 0 on both sides are left out.") :]
    assert max(map(len, matrix)) <= width
    blocks = [one for one in matrix if "backward" in one]
    assert len(blocks) > 1
    assert "[15]" in matrix[2]
    assert sum("✗0" in one for one in matrix) == 1


def test_without_colours_and_glyphs_a_mark_says_what_is_wrong():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    lines = lines_of(lambda: TRIPLED.apply(x).sum().backward(), ascii=True)
    assert all(one.isascii() for one in lines)
    assert lines[-2:] == ["  [0]    !3     0 |     2     0", "  [1]     0    !3 |     0     2"]


def test_a_gradient_of_none_counts_as_zero():
    half = custom(lambda ctx, x, y: x * 2 + y, lambda ctx, grad: (grad * 2, None))
    x, y = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    lines = lines_of(lambda: (half.apply(x, y) + y).sum().backward())
    assert "sent      for y  None, which counts as 0" in lines
    assert "✗ ∂%2[0]/∂y[0]  backward gives 0, differences give 1" in lines


def test_a_backward_that_is_not_linear_in_its_gradient():
    clipped = custom(lambda ctx, x: x * 2, lambda ctx, grad: (grad * 2).clamp(-3, 3))
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    lines = lines_of(lambda: (clipped.apply(x) * 5).sum().backward())
    assert lines[0] == "✗ wrong: the gradient that it sent differs from finite differences"
    assert any("backward is not linear in the gradient that comes in" in one for one in lines)


def test_a_wrong_entry_that_the_gradient_that_came_in_hides():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    straight = custom(lambda ctx, x: x.clamp(0.0, 1.5), lambda ctx, grad: grad)
    lines = lines_of(lambda: (straight.apply(x) * mt.tensor([1.0, 0.0])).sum().backward())
    assert "The gradient that came in hides it: in this pass all that was sent is right." in lines


def test_the_trace_of_the_moment_has_it():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with Recorder(check="all") as recorder:
        TRIPLED.apply(x).sum().backward()
    text = "\n".join(trace_moment(StepCursor.open(recorder.recording).goto("Custom")))
    assert "── Derivative ──" in text
    assert "✗ wrong: 2 of 4 derivatives differ" in text
    assert "Derivative" not in "\n".join(trace_moment(StepCursor.open(recorder.recording).goto("x")))


def test_second_derivatives_say_what_they_are_of():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    cube = custom(forward, lambda ctx, grad: 3 * grad * ctx.saved_tensors[0].detach() ** 2)
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    lines = lines_of(lambda: mt.autograd.grad(cube.apply(x).sum(), x, create_graph=True))
    assert lines[:2] == ["✓ right: finite differences agree", "✗ wrong: 2 of 4 second derivatives, by double backward"]
    start = lines.index("∂grad_x/∂x   rows: the gradient for x, columns: x")
    assert lines[start + 1] == "✗ ∂grad_x[1]/∂x[1]  double backward gives 0, differences give 12"
    assert lines[start + 3].split() == ["double", "backward", "│", "differences"]
