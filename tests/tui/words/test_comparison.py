"""Each kind of difference between two recordings in words."""

import contextlib

import pytest

import microtape as mt
from microtape.recording.comparing import compare
from tui.words.comparison import Words


def recorded(run):
    """What `run` does with x = [2, 3], of which the gradient is 1 already."""
    with mt.record() as recorder, contextlib.suppress(RuntimeError):
        run(mt.tensor([2.0, 3.0], requires_grad=True))
    return recorder.recording


def seeded(number):
    return lambda x: (x * 2).sum().backward(mt.tensor(number))


def beginning_with(number):
    def run(x):
        x.grad = mt.full((2,), number)
        (x * 2).sum().backward()

    return run


def captured(number):
    return lambda x: mt.autograd.grad((x * 2).sum() * number, [x])


def hooked(number):
    def run(x):
        y = x * 2
        y.register_hook(lambda gradient: gradient * number)
        y.sum().backward()

    return run


def failing(is_wrong):
    def run(x):
        y = x.exp()
        z = y.sum()
        if is_wrong:
            y.add_(1)
        z.backward()

    return run


def second_leaf(requires_grad):
    def run(x):
        w = mt.tensor([5.0, 7.0], requires_grad=True)
        (x * w).sum().backward(inputs=[x, w] if requires_grad else [x])

    return run


@pytest.mark.parametrize(
    ("make", "a", "b", "said"),
    [
        (seeded, 1.0, 3.0, "`(x * 2).sum()`: the first gradient is 1 in a, 3 in b, relative 0.67"),
        (beginning_with, 1.0, 4.0, "x.grad before the pass is 1 in a, 4 in b at [0], relative 0.75"),
        (captured, 1.0, 5.0, "that is returned is 2 in a, 10 in b at [0], relative 0.8"),
        (hooked, 1.0, 10.0, "`x * 2`: the gradient that arrives is 1 in a, 10 in b at [0], relative 0.9"),
        (hooked, 1.0, float("nan"), "the gradient that arrives is 1 in a, nan in b at [0]"),
        (failing, False, True, "pass 1: it runs to its end in a; fails in b at ExpBackward0 at"),
        (second_leaf, True, False, "gets a gradient only in a"),
    ],
)  # fmt: skip
def test_a_difference_in_words(make, a, b, said):
    found = compare(recorded(make(a)), recorded(make(b)))
    words = Words(found, ("a", "b"))
    sentences = [" ".join(words.sentence(one).split()) for one in found.differences]
    assert any(said in one for one in sentences), sentences
