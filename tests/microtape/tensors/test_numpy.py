"""numpy's functions on tensors, and shared memory: gradients pass through, or an error says that they cannot."""

import numpy as np
import pytest

import microtape as mt
from microtape.autograd import gradcheck
from microtape.tensors.interop import ANOTHER_NAME

UFUNCS = [
    (ufunc.__name__, ufunc)
    for ufunc in sorted(
        {each for each in vars(np).values() if isinstance(each, np.ufunc)}, key=lambda one: one.__name__
    )
    if hasattr(mt.Tensor, ANOTHER_NAME.get(ufunc.__name__, ufunc.__name__))
]
FLAT = "isnan isinf isfinite logical_and logical_or logical_xor logical_not equal not_equal less less_equal greater"
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert", "gcd", "lcm"}
INTEGERS = {"gcd", "lcm"}
UNDIFFERENTIABLE = {*FLAT.split(), "greater_equal", "signbit"} | BITS
WITHOUT_DERIVATIVE = {"floor_divide", "heaviside"}
DOMAIN = {"arccosh": [1.5, 2.5], "arcsin": [-0.5, 0.6], "arccos": [-0.5, 0.6], "arctanh": [-0.5, 0.6]}


def test_these_are_all_of_them():
    assert len(UFUNCS) == 74


def leaf(*numbers):
    return mt.tensor(numbers, dtype=mt.float64, requires_grad=True)


@pytest.mark.parametrize(("name", "ufunc"), UFUNCS)
def test_a_universal_function_gives_what_numpy_gives(name, ufunc):
    numbers = (
        np.array([True, False]) if name in ("invert",) or "bitwise" in name else np.array(DOMAIN.get(name, [1.5, 2.5]))
    )
    numbers = np.array([12, 18]) if name in INTEGERS else numbers
    arrays = [numbers, numbers[::-1].copy()][: ufunc.nin]
    result = ufunc(*[mt.tensor(array) for array in arrays])
    assert isinstance(result, mt.Tensor)
    np.testing.assert_allclose(result.numpy(), ufunc(*arrays), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "ufunc"), [(n, u) for n, u in UFUNCS if n not in UNDIFFERENTIABLE | WITHOUT_DERIVATIVE]
)
def test_a_universal_function_is_recorded(name, ufunc):
    inputs = [leaf(*DOMAIN.get(name, [1.3, 2.6])), leaf(0.7, 1.2)][: ufunc.nin]
    assert ufunc(*inputs).requires_grad
    assert gradcheck(ufunc, inputs)


@pytest.mark.parametrize("name", sorted(UNDIFFERENTIABLE - BITS))
def test_what_is_never_differentiable_may_be_asked_of_a_leaf(name):
    ufunc = getattr(np, name)
    result = ufunc(*[leaf(1.0, 2.0), leaf(1.0, 0.0)][: ufunc.nin])
    assert result.dtype == mt.bool
    assert not result.requires_grad


def test_what_has_no_derivative_says_so_by_name():
    x = leaf(1.0, 8.0)
    with pytest.raises(TypeError, match=r"^np\.cbrt has no derivative here\. Use tensor\.detach\(\)\.numpy\(\)"):
        np.cbrt(x)
    with pytest.raises(TypeError, match=r"^np\.multiply\.reduce has no derivative here"):
        np.multiply.reduce(x)
    with pytest.raises(TypeError, match=r"^np\.multiply\.outer has no derivative here"):
        np.multiply.outer(x, x)
    with pytest.raises(TypeError, match=r"^np\.add takes no arguments by name here"):
        np.add(x, 1, dtype=np.float32)
    quotient = np.floor_divide(x, 3.0)
    with pytest.raises(RuntimeError, match=r"derivative for aten::floor_divide is not implemented"):
        quotient.sum().backward()


def test_without_gradients_every_universal_function_works():
    x = mt.tensor([1.0, 8.0])
    assert np.cbrt(x).tolist() == [1.0, 2.0]
    assert np.multiply.reduce(x).item() == 8.0
    assert [part.tolist() for part in np.modf(x)] == [[0.0, 0.0], [1.0, 8.0]]
    with mt.no_grad():
        assert np.cbrt(leaf(1.0, 8.0)).tolist() == [1.0, 2.0]


def test_nothing_is_written_into_a_tensor_behind_its_back():
    x = mt.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"^np\.add cannot write into a Tensor"):
        np.add(x, 1, out=x)
    with pytest.raises(TypeError, match=r"^np\.add\.at cannot write into a Tensor"):
        np.add.at(x, [0], 1.0)
    assert (x.tolist(), x._version) == ([1.0, 2.0], 0)


def test_an_array_may_be_written_into_from_a_tensor_without_gradient():
    array = np.array([1.0, 2.0])
    array += mt.tensor([1.0, 1.0])
    assert array.tolist() == [2.0, 3.0]
    with pytest.raises(TypeError, match=r"^np\.add takes no arguments by name here"):
        array += leaf(1.0, 1.0)


@pytest.mark.parametrize(
    "calculate",
    [
        lambda a, x: a + x,
        lambda a, x: a - x,
        lambda a, x: a * x,
        lambda a, x: a / x,
        lambda a, x: a**x,
        lambda a, x: a @ x,
        lambda a, x: x + a,
        lambda a, x: x @ a,
        lambda a, x: np.maximum(a, x),
        lambda a, x: np.float64(2) * x,
        lambda a, x: a[0] - x,
    ],
)
def test_arrays_stand_on_either_side_of_an_operator(calculate):
    a = np.array([1.5, 2.5])
    assert isinstance(calculate(a, leaf(0.5, 1.0)), mt.Tensor)
    assert gradcheck(lambda x: calculate(a, x), leaf(0.5, 1.0))


def test_a_number_has_no_say_in_the_dtype_and_an_array_has():
    x = mt.tensor([1.0])
    assert np.add(x, 1.0).dtype == np.add(1.0, x).dtype == (np.float64(1) * x).dtype == mt.float32
    assert np.add(np.ones(1), x).dtype == mt.float64


def test_an_array_of_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="dtype object"):
        np.multiply(mt.ones(1), np.array([None]))
    with pytest.raises(TypeError, match="unsupported operand"):
        mt.ones(1) * None


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var", "max", "min", "round", "squeeze"])
def test_functions_that_call_the_method_are_recorded(name):
    x = leaf(1.2, 2.7, 0.4)
    result = getattr(np, name)(x)
    assert result.grad_fn is not None
    np.testing.assert_allclose(result.detach().numpy(), getattr(np, name)(x.detach().numpy()))


def test_their_arguments_may_be_numpys():
    x = mt.arange(6.0, dtype=mt.float64).reshape(2, 3).requires_grad_()
    array = x.detach().numpy()
    assert np.sum(x, axis=0).tolist() == np.sum(array, axis=0).tolist()
    assert np.mean(x, axis=(0, 1)).item() == np.mean(array)
    assert np.max(x, axis=None).item() == 5.0
    assert np.sum(x, axis=1, keepdims=True).shape == (2, 1)
    assert np.cumsum(x, axis=1).tolist() == np.cumsum(array, axis=1).tolist()
    assert np.std(x, axis=0, ddof=1).tolist() == np.std(array, axis=0, ddof=1).tolist()
    assert np.clip(x, 1, 3).tolist() == np.clip(array, 1, 3).tolist()
    with pytest.raises(TypeError, match="takes no out="):
        np.sum(x, axis=0, out=np.zeros(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        x.sum(axes=0)


@pytest.mark.parametrize(
    "function",
    [
        np.asarray,
        np.sort,
        np.linalg.norm,
        lambda x: np.concatenate([x, x]),
        lambda x: np.dot(x, x),
        lambda x: np.where(x > 0, x, 0),
        lambda x: np.array([x[0], x[1]]),
        lambda x: x.numpy(),
    ],
)
def test_functions_that_want_an_array_get_none_from_what_requires_grad(function):
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        function(leaf(1.0, 2.0))
    function(mt.tensor([1.0, 2.0]))


def test_numpy_shares_the_memory_and_force_gives_it_of_a_leaf_too():
    x = leaf(1.0, 2.0)
    array = x.detach().numpy()
    array[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    assert x.numpy(force=True) is array
    assert np.asarray(x.detach()) is array
    assert np.asarray(x.detach(), dtype=np.float32) is not array


def test_from_numpy_and_as_tensor_share_the_memory_and_tensor_copies():
    array = np.array([1.0, 2.0])
    shared, same, copied = mt.from_numpy(array), mt.as_tensor(array), mt.tensor(array)
    array[0] = 5.0
    assert (shared.tolist(), same.tolist(), copied.tolist()) == ([5.0, 2.0], [5.0, 2.0], [1.0, 2.0])
    assert not shared.requires_grad


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_dlpack_shares_the_memory_both_ways(dtype):
    x = mt.tensor(np.array([1, 0, 1], dtype))
    array = np.from_dlpack(x)
    assert array.dtype == dtype
    assert np.shares_memory(array, x.numpy())
    again = mt.from_dlpack(x)
    again.fill_(1)
    assert x.tolist() == [1, 1, 1]
    assert mt.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]


def test_dlpack_gives_nothing_away_that_requires_grad():
    with pytest.raises(BufferError, match=r"Can't export tensors that require gradient, use tensor\.detach"):
        np.from_dlpack(leaf(1.0))
    assert np.from_dlpack(leaf(1.0).detach()).tolist() == [1.0]
