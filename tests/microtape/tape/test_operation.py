"""Running an operation: operands, messages, call sites, what is saved, and what an observer is told."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest

import microtape as mt
from microtape.basics.fresh_stack import run_on_fresh_stack
from microtape.errors import DetachedInPlaceError, ModifiedInPlaceError
from microtape.ops.elementwise.arithmetic import AddBackward0, MulBackward0
from microtape.ops.shape.subviews import unbind
from microtape.tape.operation import binary, call, refusal


def leaf(*values):
    return mt.tensor(list(values), requires_grad=True)


@pytest.mark.parametrize(
    ("a", "b", "sizes_and_dimension"),
    [
        ((4,), (2, 3, 5), (4, 5, 2)),
        ((2, 3, 5), (4,), (5, 4, 2)),
        ((2, 3), (3, 3), (2, 3, 0)),
        ((2, 300), (3, 300), (2, 3, 0)),
    ],
)
def test_shapes_that_do_not_broadcast_are_named(a, b, sizes_and_dimension):
    with pytest.raises(RuntimeError) as caught:
        mt.ones(a) + mt.ones(b)
    size, other, dimension = sizes_and_dimension
    sizes = f"The size of tensor a ({size}) must match the size of tensor b ({other})"
    assert str(caught.value) == f"{sizes} at non-singleton dimension {dimension}"


def test_an_error_that_is_not_about_shapes_keeps_its_text():
    for arrays in ((np.ones((4, 3)), np.ones(3)), (np.ones(3), np.ones((4, 3))), (np.ones(2),), ()):
        assert str(refusal(ValueError("what numpy says"), *arrays)) == "what numpy says"


def test_a_number_or_an_array_may_stand_on_either_side():
    x = leaf(2.0, 3.0)
    for product in (mt.mul(2.0, x), mt.mul(x, 2.0), mt.mul(np.full(2, 2.0, np.float32), x)):
        assert product.tolist() == [4.0, 6.0]
        assert product.grad_fn is not None


def test_the_operands_of_a_call_become_tensors():
    x = leaf(2.0, 3.0)
    for other in (2, 2.0, np.float32(2), np.full(2, 2.0, np.float32)):
        product = call(MulBackward0(), x, other)
        assert product.tolist() == [4.0, 6.0]
        assert product.dtype == mt.float32
    assert call(MulBackward0(), x, np.full(2, 2.0)).dtype == mt.float64
    with pytest.raises(TypeError, match="expected a Tensor, a number or an array, not str"):
        call(MulBackward0(), x, "a")


def test_anything_else_is_left_to_the_other_operand():
    x = leaf(2.0)
    assert binary(MulBackward0, "a", x) is NotImplemented
    assert binary(MulBackward0, x, "a") is NotImplemented


def test_an_operation_without_any_tensor_names_its_first_operand():
    with pytest.raises(TypeError, match=r"add\(\): argument 'input' \(position 1\) must be Tensor, not str"):
        call(AddBackward0(), "a", 3)


def test_a_result_without_dimensions_is_an_array_too():
    x = mt.tensor(2.0)
    for result in (mt.exp(x), x * x, x.sum(), -x, x + 1):
        assert type(result.array) is np.ndarray
        assert result.add_(1).shape == ()


def test_a_tensor_without_dimensions_does_not_promote_the_others():
    narrow, wide = mt.ones(2, dtype=mt.float32), mt.tensor(3.0, dtype=mt.float64)
    assert (narrow * wide).dtype == (wide * narrow).dtype == mt.float32
    assert (narrow * mt.ones(2, dtype=mt.float64)).dtype == mt.float64


def test_integers_become_floats_where_the_result_is_one():
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        mt.tensor([1, 2]).exp_()
    assert mt.tensor([1, 2]).neg_().tolist() == [-1, -2]


def test_an_operation_is_called_as_its_node_without_the_ending():
    assert (AddBackward0.op, MulBackward0.op) == ("add", "mul")


def test_a_formula_may_need_the_operand_and_the_result():
    z = mt.tensor([3 + 4j], requires_grad=True)
    mt.sgn(z).real.sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), [0.128 - 0.096j], rtol=1e-6)


def test_a_node_knows_the_line_that_called_the_operation():
    x = leaf(1.0, 2.0)
    here = sys._getframe().f_code
    for made in (x.exp(), x * x, x.sum(), unbind(x)[0], mt.split(x, 1)[1], next(iter(x)), x.view(2, 1), x.sort()[0]):
        assert made.grad_fn.call_site.code is here


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_node_that_is_recorded_on_a_fresh_stack_knows_the_line_too():
    x = leaf(1.0, 2.0)
    run_on_fresh_stack(partial((x**3).sum().backward, create_graph=True))
    assert x.grad.grad_fn.call_site.code is sys._getframe().f_code


def test_a_saved_result_must_not_be_detached_in_place():
    for use in (lambda y: y.pow(2), lambda y: y * leaf(1.0, 2.0), lambda y: leaf(1.0, 2.0) * y):
        y = leaf(1.0, 2.0) * 1
        z = use(y)
        y.detach_()
        with pytest.raises(DetachedInPlaceError):
            z.sum().backward()


def test_an_error_about_an_overwritten_tensor_names_the_line_that_wrote():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(ModifiedInPlaceError, match=r"modified at .*: +y\.add_\(1\)"):
        y.sum().backward()


def test_a_node_says_whether_it_had_anything_to_free():
    x = leaf(1.0, 2.0)
    saving, not_saving = (x * x).grad_fn, (x + 1).grad_fn
    base = x * 1
    base[:1].mul_(2)
    assert [node.release() for node in (saving, saving, not_saving)] == [True, False, False]
    assert [base.grad_fn.release() for _ in range(2)] == [True, False]
