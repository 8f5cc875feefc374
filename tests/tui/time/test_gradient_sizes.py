"""Bars for the sizes of gradients, on a logarithmic scale over the whole pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import microtape as mt
from microtape.recording.model import measure
from microtape.recording.model.summary import summarize
from tui.time import gradient_sizes
from tui.time.cursor import StepCursor
from tui.time.gradient_sizes import GradientScale, root_mean_squares
from viz.planning.sparkline import root_mean_square

FLOATS = st.floats(-(2.0**100), 2.0**100, width=32)
ARRAYS = npst.arrays(np.float32, npst.array_shapes(min_dims=0, max_dims=2, max_side=5), elements=FLOATS)
SCALE = GradientScale(-8.0, 0.0)


def vanishing(layers):
    """The scale of a pass in which each layer makes the gradient a hundred times smaller, and all its gradients."""
    h = mt.tensor([1.0, 1.0], dtype=mt.float64, requires_grad=True)
    for _ in range(layers):
        h = h * 0.01
    timeline = StepCursor.open(mt.record(h.sum().backward)).timeline
    return GradientScale.of(timeline), [step.grad_outputs[0] for step in timeline.steps]


def test_a_gradient_that_vanishes_has_shorter_and_shorter_bars():
    scale, gradients = vanishing(10)
    lengths = [len(scale.bar(one, 20)) for one in gradients]
    assert lengths[0] == 20
    assert lengths[-1] == 1
    steps = -np.diff(lengths[1:-1])
    assert set(steps) <= {1, 2}, "equally on a logarithmic scale"


def test_gradients_of_similar_size_have_bars_of_similar_length():
    scale, gradients = vanishing(1)
    assert scale.high - scale.low == gradient_sizes.DECADES
    assert len(scale.bar(gradients[-1], 8)) >= 4


@pytest.mark.parametrize(
    ("gradient", "bar", "in_ascii"),
    [
        (np.array(1.0), "████████", "########"),
        (np.array([1e-4, -1e-4]), "████▏", "#####"),
        (np.array(1e-8), "▏", "#"),
        (np.array(1e-30), "▏", "#"),
        (np.array([0.0, 0.0]), "", ""),
        (None, "", ""),
        (np.array([1.0, np.nan]), "NaN", "NaN"),
        (
            np.array([0x7F800001], np.uint32).view(np.float32),
            "NaN",
            "NaN",
        ),  # signalling: computing with it makes numpy warn
        (np.array([1.0, np.inf]), "∞", "Inf"),
        (summarize(np.array([1.0, -np.inf])), "∞", "Inf"),
    ],
)
def test_zero_has_no_bar_and_nan_and_infinity_have_a_sign(gradient, bar, in_ascii):
    assert SCALE.bar(gradient, 8) == bar
    assert SCALE.bar(gradient, 8, ascii=True) == in_ascii


@given(a=FLOATS, b=FLOATS, width=st.integers(1, 12))
def test_a_larger_gradient_never_has_a_shorter_bar(a, b, width):
    def cells(x):
        bar = SCALE.bar(np.array(x), width)
        return 8 * len(bar) - (8 - gradient_sizes.EIGHTHS.index(bar[-1])) if bar else 0

    small, large = sorted((abs(a), abs(b)))
    assert cells(small) <= cells(large) <= 8 * width


@given(st.lists(ARRAYS, max_size=6), st.integers(1, 40))
def test_many_sizes_at_once_are_those_of_each(arrays, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_TOGETHER", at_once)
        found = root_mean_squares([*arrays, *map(summarize, arrays)])
    summaries = [root_mean_square(summarize(one)) for one in arrays]
    np.testing.assert_allclose(found, [*summaries, *map(root_mean_square, arrays)], rtol=1e-12)
