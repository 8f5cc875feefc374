"""Results that nobody but the recording holds have their values in memory once."""

import weakref

import numpy as np
import pytest

import microtape as mt
from microtape.tape.watch import Watcher, watch


class _Results(Watcher):
    """Weak references to the arrays of all results."""

    def __init__(self):
        self.arrays = []

    def operation(self, node, operands, outputs, in_place):
        """See Watcher."""
        self.arrays += [weakref.ref(one.array) for one in outputs]

    def __enter__(self):
        watch.join(self)
        return self

    def __exit__(self, *error):
        watch.leave(self)


def test_the_arrays_of_results_that_are_gone_are_freed():
    w = mt.ones(100, requires_grad=True)
    with mt.record() as recorder, _Results() as results:
        for _ in range(3):
            ((w * 2).exp() + 1).sum().backward()
    assert all(one() is None for one in results.arrays[:-1])  # the last loss was held when its pass ended
    made = [one for one in recorder.recording.tensors if not one.is_leaf]
    wanted = [2.0, np.exp(2), np.exp(2) + 1, 100 * (np.exp(2) + 1)] * 3
    for tensor, value in zip(made, wanted, strict=True):
        np.testing.assert_allclose(tensor.values[0], value, rtol=1e-6)


def test_the_variables_of_a_loop_hold_theirs_for_a_round_more():
    w = mt.ones(100, requires_grad=True)
    with mt.record(), _Results() as results:
        for _ in range(5):
            h = w * 2
            loss = h.sum()
            loss.backward()
        alive = [one() for one in results.arrays if one() is not None]
        assert len(alive) == 2
        assert any(one is h.array for one in alive)


HOLDERS = {
    "tensor": lambda h: h,
    "view": lambda h: h[:2],
    "array": lambda h: h.array,
    "numpy": lambda h: h.detach().numpy(),
    "weak reference": weakref.ref,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_the_program_holds_stays_its_own(holder):
    w = mt.ones(3, requires_grad=True)
    with mt.record() as recorder:
        h = w * 2
        held = HOLDERS[holder](h)
        h.sum().backward()
        del h
        for _ in range(3):
            (w * 3).sum().backward()
        with mt.no_grad():
            written = held() if holder == "weak reference" else held
            written[0] = 5
    assert written[0].item() == 5
    assert all(5 not in value for value in recorder.recording.tensors[1].values.values())


def test_a_graph_that_is_kept_runs_again():
    w = mt.ones(3, requires_grad=True)
    with mt.record() as recorder:
        loss = (w * 2).exp().sum()
        for _ in range(3):
            loss.backward(retain_graph=True)
        del loss
    np.testing.assert_allclose(w.grad.numpy(), 6 * np.exp(2) * np.ones(3), rtol=1e-6)
    assert len(recorder.recording.passes) == 3
