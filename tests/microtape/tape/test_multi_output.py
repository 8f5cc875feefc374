"""Operations with several outputs."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output
from microtape.tape.watch import Watcher, watch


class Refused(MultiOutputOperation):
    returns = staticmethod(lambda *outputs: outputs)

    def forward(self, x):
        raise TypeError("numpy cannot compute this")


def test_results_print_their_names():
    assert repr(mt.tensor([1.0, 2.0]).max(0)) == ("microtape.return_types.max(\nvalues=tensor(2.),\nindices=tensor(1))")


def test_numpys_error_becomes_a_runtime_error():
    with pytest.raises(RuntimeError, match="numpy cannot compute this"):
        call_multi_output(Refused(), mt.ones(2))


def test_an_output_that_was_not_used_counts_as_zeros():
    x = mt.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=mt.float64, requires_grad=True)
    values, vectors = mt.linalg.eigh(x)
    for unused in (values, vectors.abs()):
        (plain,) = mt.autograd.grad(unused.sum(), x, retain_graph=True)
        (recorded,) = mt.autograd.grad(unused.sum(), x, create_graph=True)
        assert mt.allclose(plain, recorded)
        assert recorded.requires_grad


def test_an_observer_is_told_that_nothing_was_overwritten():
    class Listener(Watcher):
        def unrecorded(self, node, operands, outputs, in_place):
            told.append((len(outputs), in_place))

    told, listener = [], Listener()
    watch.join(listener)
    try:
        mt.ones(2).max(0)
        mt.ones(2).split(1)
        mt.ones(2).mul_(2)
    finally:
        watch.leave(listener)
    assert told == [(2, False), (2, False), (1, True)]


def test_a_formula_may_need_all_of_three_results():
    x = mt.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=mt.float64, requires_grad=True)
    u, s, vh = mt.linalg.svd(x)
    ((u * s) @ vh).sum().backward()
    assert mt.allclose(x.grad, mt.ones(2, 2, dtype=mt.float64))
