"""`nn.utils`: gradients are scaled together, or clamped one by one. Missing names are explained by the error."""

import numpy as np
import pytest

import microtape as mt


def leaves():
    x, y = mt.zeros(2, requires_grad=True), mt.zeros((), requires_grad=True)
    x.grad, y.grad = mt.tensor([3.0, 0.0]), mt.tensor(4.0)
    return [x, mt.zeros(1, requires_grad=True), y]


def test_the_norm_of_all_gradients_together_is_brought_down_and_returned():
    x, without, y = parameters = leaves()
    assert mt.nn.utils.clip_grad_norm_(parameters, 1.0).item() == 5
    np.testing.assert_allclose([*x.grad.tolist(), y.grad.item()], [0.6, 0, 0.8], rtol=1e-5)
    assert without.grad is None


def test_a_small_gradient_is_left_as_it_is():
    x, _, y = leaves()
    assert mt.nn.utils.clip_grad_norm_([x, y], 10.0, norm_type=1).item() == 7
    assert (x.grad.tolist(), y.grad.item()) == ([3, 0], 4)
    assert mt.nn.utils.clip_grad_norm_([], 1.0).item() == 0
    assert mt.nn.utils.clip_grad_norm_(y, 2.0).item() == 4


def test_a_norm_that_is_no_number_is_refused_where_that_is_asked_for():
    x, _, _ = leaves()
    x.grad[0] = float("nan")
    with pytest.raises(RuntimeError, match="non-finite"):
        mt.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)


def test_each_element_can_be_bounded():
    x, _, y = leaves()
    y.grad.neg_()
    mt.nn.utils.clip_grad_value_([x, y], 2.0)
    assert (x.grad.tolist(), y.grad.item()) == ([2, 0], -2)


def test_what_does_not_exist_says_what_to_do_instead():
    with pytest.raises(AttributeError, match="no attribute 'Transformer': it is not here; run the program on"):
        mt.nn.Transformer  # noqa: B018
