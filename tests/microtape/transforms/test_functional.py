"""Jacobians and Hessians and their products with vectors, compared with finite differences."""

import numpy as np
import pytest

import microtape as mt
from microtape.autograd import functional

X = mt.tensor(np.array([0.5, -1.0, 2.0]))
Y = mt.tensor(np.array([[1.5], [0.25]]))


def mixed(x, y):
    return (x * y).exp().sum(0), (x * x).sum() * y


def number(x, y):
    return (x.sin() * (y * y)).sum() + (x * x * x).sum()


def numerical_jacobian(function, inputs, eps=1e-6):
    """The Jacobian as one matrix: a row for each element of the outputs, a column for each of the inputs."""

    def flat(tensors):
        tensors = tensors if isinstance(tensors, tuple) else (tensors,)
        return np.concatenate([tensor.detach().numpy().reshape(-1) for tensor in tensors])

    columns = []
    for which, tensor in enumerate(inputs):
        for position in np.ndindex(*tensor.shape):
            moved = []
            for sign in (1, -1):
                array = tensor.numpy().copy()
                array[position] += sign * eps
                moved.append(flat(function(*inputs[:which], mt.tensor(array), *inputs[which + 1 :])))
            columns.append((moved[0] - moved[1]) / (2 * eps))
    return np.stack(columns, axis=1)


def matrix_of(blocks):
    """A tuple of tuples of blocks as one matrix; `blocks[i][j]` is of output i, shaped like X or Y, by input j."""
    return np.block(
        [[block.numpy().reshape(-1, x.numel()) for block, x in zip(row, (X, Y), strict=True)] for row in blocks]
    )


def flattened(tensors):
    return np.concatenate([tensor.detach().numpy().reshape(-1) for tensor in tensors])


JACOBIAN = numerical_jacobian(mixed, (X, Y))
HESSIAN = numerical_jacobian(lambda x, y: functional.vjp(number, (x, y))[1], (X, Y))


def test_the_jacobian_is_the_matrix_of_partial_derivatives():
    np.testing.assert_allclose(matrix_of(functional.jacobian(mixed, (X, Y))), JACOBIAN, rtol=1e-7)


def test_the_hessian_is_the_matrix_of_second_derivatives():
    hessian = matrix_of(functional.hessian(number, (X, Y)))
    np.testing.assert_allclose(hessian, HESSIAN, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(hessian, hessian.T)


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_products_are_products_with_these_matrices(create_graph):
    v = (mt.tensor(np.array([1.0, 2.0, -3.0])), mt.tensor(np.array([[0.5], [4.0]])))
    _, vjp = functional.vjp(mixed, (X, Y), v, create_graph)
    np.testing.assert_allclose(flattened(vjp), flattened(v) @ JACOBIAN, rtol=1e-7)
    _, jvp = functional.jvp(mixed, (X, Y), v, create_graph)
    np.testing.assert_allclose(flattened(jvp), JACOBIAN @ flattened(v), rtol=1e-7)
    for name in ("vhp", "hvp"):
        _, product = getattr(functional, name)(number, (X, Y), v, create_graph)
        np.testing.assert_allclose(flattened(product), HESSIAN @ flattened(v), rtol=1e-6)


def test_the_outputs_come_first_and_have_no_history():
    outputs, _ = functional.vjp(mixed, (X, Y), (X, Y))
    for output, expected in zip(outputs, mixed(X, Y), strict=True):
        np.testing.assert_array_equal(output.numpy(), expected.numpy())
        assert not output.requires_grad


def test_shapes_are_output_then_input():
    assert functional.jacobian(lambda y: y.t() * X.sum(), Y).shape == (1, 2, 2, 1)
    assert functional.hessian(lambda y: (y * y).sum(), Y).shape == (2, 1, 2, 1)


def test_a_tuple_in_or_out_is_a_tuple_in_the_result():
    def square(x):
        return x * x

    assert isinstance(functional.jacobian(square, X), mt.Tensor)
    assert isinstance(functional.jacobian(square, (X,)), tuple)
    (row,) = functional.jacobian(lambda x: (x * x,), X)
    assert isinstance(row, mt.Tensor)
    ((block,),) = functional.hessian(lambda x: (x * x).sum(), (X,))
    assert block.shape == (3, 3)


def test_an_unused_input_has_a_derivative_of_zero_or_is_an_error_in_strict_mode():
    _, (_, unused) = functional.vjp(lambda x, y: (x * x).sum(), (X, Y))
    np.testing.assert_array_equal(unused.numpy(), np.zeros((2, 1)))
    with pytest.raises(RuntimeError, match=r"independent of input 1\. This is not allowed in strict mode"):
        functional.vjp(lambda x, y: (x * x).sum(), (X, Y), strict=True)


def test_inputs_keep_their_flags_and_gradients():
    x = mt.tensor([1.0], requires_grad=True)
    functional.hessian(lambda x: (x**3).sum(), x)
    assert x.requires_grad
    assert x.grad is None
    functional.jacobian(lambda x: x * x, X)
    assert not X.requires_grad


def test_they_work_where_nothing_is_recorded():
    with mt.no_grad():
        np.testing.assert_allclose(matrix_of(functional.jacobian(mixed, (X, Y))), JACOBIAN, rtol=1e-7)
        assert not mt.is_grad_enabled()


def test_the_jacobian_of_a_jacobian():
    x = mt.tensor(np.array([1.0, 2.0]), requires_grad=True)
    matrix = functional.jacobian(lambda x: x**3, x, create_graph=True)
    (gradient,) = mt.autograd.grad(matrix.sum(), x)
    np.testing.assert_allclose(gradient.numpy(), [6.0, 12.0])


def test_vectorize_gives_the_same():
    np.testing.assert_array_equal(
        matrix_of(functional.jacobian(mixed, (X, Y), vectorize=True)), matrix_of(functional.jacobian(mixed, (X, Y)))
    )
