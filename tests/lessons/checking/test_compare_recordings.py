"""What is said where a learner's backward pass first differs from the solution's."""

import contextlib

import pytest

import microtape as mt
from lessons.checking.compare_recordings import first_different_step


def recorded(run):
    """A pass over x = 2, which `run` begins."""
    with mt.record() as recorder, contextlib.suppress(RuntimeError):
        run(mt.tensor(2.0, requires_grad=True))
    return recorder.recording


def with_gradient(x):
    x.grad = mt.tensor(5.0)
    (x * 3).backward()


def spoiled(x):
    y = x.exp()
    z = y.sin()
    y.add_(1)
    z.backward()


SOLUTION = {
    "times three": lambda x: (x * 3).backward(),
    "grad": lambda x: mt.autograd.grad(x * 3, [x]),
    "sine": lambda x: x.exp().sin().backward(),
}


@pytest.mark.parametrize(
    ("own", "solution", "step", "said"),
    [
        (lambda x: (x * 3).backward(), "grad", 1, "the solution's pass has already ended here"),
        (lambda x: mt.autograd.grad(x * 3, [x]), "times three", 0,
         "your pass ends here; the solution's goes on to accumulate"),
        (lambda x: (x + 3).backward(), "times three", 0,
         "add runs; in the solution mul runs (your code may just be written differently)"),
        (lambda x: (x * 3).backward(mt.tensor(2.0)), "times three", 0, "mul receives 2, the solution's receives 1"),
        (lambda x: (x * 4).backward(), "times three", 0, "mul sends 4, the solution's sends 3"),
        (with_gradient, "times three", 1, ".grad becomes 8, the solution's 3"),
        (spoiled, "sine", 0, "it fails: one of the variables needed for gradient computation has been modified by an "
         "inplace operation"),
    ],
)  # fmt: skip
def test_the_first_difference_is_told(own, solution, step, said):
    found = first_different_step(recorded(own), recorded(SOLUTION[solution]))
    assert (found.pass_index, found.step) == (0, step)
    assert found.what.startswith(said)


def test_the_same_pass_has_no_difference():
    assert first_different_step(recorded(SOLUTION["sine"]), recorded(SOLUTION["sine"])) is None
