"""What is recorded of a torch tensor: its elements or what numpy's array would be summarised to, and no trace of us."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from microtape.recording.model.model import Summary
from microtape.recording.model.summary import summarize

LARGE = 20_000
DTYPES = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]


def same(value, array):
    """Whether a value is a read-only array with these elements."""
    assert isinstance(value, np.ndarray)
    assert not value.flags.writeable
    assert (value.dtype, value.shape) == (array.dtype, array.shape)
    return np.array_equal(value, array, equal_nan=value.dtype.kind in "fc")


@st.composite
def tensors(draw):
    """A tensor with any strides and the array that shows the same."""
    import torch

    array = draw(
        npst.arrays(st.sampled_from(DTYPES), npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    )
    tensor = torch.from_numpy(array.copy())
    if draw(st.booleans()) and array.ndim:
        order = draw(st.permutations(range(array.ndim)))
        tensor, array = tensor.permute(order), array.transpose(order)
    if draw(st.booleans()) and array.ndim:
        start, step = draw(st.integers(0, 2)), draw(st.integers(1, 3))
        tensor, array = tensor[start::step], array[start::step]
    if draw(st.booleans()):
        shape = (draw(st.integers(1, 3)), *array.shape)
        tensor, array = tensor.expand(shape), np.broadcast_to(array, shape)
    if draw(st.booleans()) and array.dtype.kind == "c":
        tensor, array = tensor.conj(), array.conj()
        if draw(st.booleans()):
            tensor, array = tensor.imag, array.imag
    if draw(st.booleans()) and array.dtype.kind in "fc":
        tensor.requires_grad_()
    return tensor, array


@given(tensors())
def test_a_small_tensor_is_copied(pair):
    from microtape.recording.pytorch.reading.values import Values, value_of

    tensor, array = pair
    assert same(value_of(tensor), array)
    assert same(Values().of(tensor), array)


@given(tensors())
def test_the_summary_of_a_tensor_is_that_of_its_array(pair):
    from microtape.recording.pytorch.reading.values import value_of

    tensor, array = pair
    value, expected = value_of(tensor, -1), summarize(array)
    scale = float(np.nan_to_num(np.abs(array), posinf=0.0).max(initial=0.0))
    for name in ("mean", "std"):  # numpy adds in the order of the memory, which need not be that of the array
        assert getattr(value, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9 * scale, nan_ok=True)
    assert value._replace(mean=0, std=0) == expected._replace(mean=0, std=0)


def test_a_tensor_of_more_elements_is_summarised():
    import torch

    from microtape.recording.pytorch.reading.values import COPIED, value_of

    torch.manual_seed(0)
    for tensor in (torch.randn(COPIED + 1), torch.randn(300, 200).t(), torch.randn(3, 100, 200).movedim(0, -1)):
        assert value_of(tensor) == summarize(tensor.clone().numpy())
        assert value_of(torch.nn.Parameter(tensor)) == summarize(tensor.clone().numpy())
    assert isinstance(value_of(torch.zeros(COPIED)), np.ndarray)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_elements_of_a_dtype_that_numpy_lacks_are_widened():
    import torch

    from microtape.recording.pytorch.reading.values import shape_and_dtype, value_of

    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        wide = torch.randn(5, 3).clamp(-2, 2)
        few, many = (one.to(getattr(torch, name)) for one in (wide, torch.randn(LARGE)))
        assert same(value_of(few.t()), few.t().float().numpy())
        assert value_of(many) == summarize(many.float().numpy())._replace(dtype=name)
        assert shape_and_dtype(few) == ((5, 3), name)
    half = torch.randn(5).to(torch.complex32)
    assert same(value_of(half), half.to(torch.complex64).numpy())


def test_an_expanded_tensor_of_any_dtype_is_read_once():
    import torch

    from microtape.recording.pytorch.reading.values import value_of

    side = 10**6  # as many elements as no memory has room for
    row = torch.tensor([0.0, 1.0, 2.0])
    for dtype in (torch.float32, torch.bfloat16, torch.bool, torch.complex64):
        expanded = row.to(dtype).expand(side, side, 3)
        for one in (expanded, expanded.conj()):
            about = value_of(one)
            assert (about.shape, about.zeros) == ((side, side, 3), side * side)
            assert (about.min, about.max) == (0, max(map(abs, row.to(dtype).tolist())))
        few = row.to(dtype).expand(2, 3)
        assert value_of(few).tolist() == few.tolist()


def test_a_tensor_on_a_gpu_is_copied_from_there():
    import torch

    from microtape.recording.pytorch.reading.values import Values, value_of

    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    for tensor in (torch.randn(3, 4).t(), torch.randn(LARGE), torch.ones(3).bfloat16()):
        on_gpu = tensor.cuda()
        for value in (value_of(on_gpu), Values().of(on_gpu)):
            assert np.array_equal(value, value_of(tensor)) if tensor.numel() < LARGE else value == value_of(tensor)


def test_memory_that_was_never_written_to_is_read_as_bools():
    import torch

    from microtape.recording.pytorch.reading.values import value_of

    odd = torch.tensor([0, 1, 2, 255], dtype=torch.uint8).view(torch.bool)
    assert value_of(odd).view(np.uint8).tolist() == [0, 1, 1, 1]


@pytest.mark.filterwarnings("ignore")
def test_a_sparse_tensor_is_read_where_it_has_elements():
    import torch

    from microtape.recording.pytorch.reading.values import shape_and_dtype, value_of

    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        small, large = (torch.diag(torch.arange(1.0, 1 + side)).to_sparse(layout=layout) for side in (4, 400))
        assert same(value_of(small), np.diag(np.arange(1, 5, dtype=np.float32)))
        about = value_of(large)
        assert about == summarize(np.arange(1, 401, dtype=np.float32))._replace(shape=(400, 400))
        assert shape_and_dtype(large) == ((400, 400), "float32")


def unreadable():
    """Tensors without elements of their own, each with its shape and dtype."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Subclass(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            raise RuntimeError("asked for what it computes")

    freed, shrunk = torch.ones(8), torch.ones(8)
    freed.untyped_storage().resize_(0)
    shrunk.untyped_storage().resize_(16)
    with FakeTensorMode():
        fake = torch.ones(2, 3)
    return {
        "meta": (torch.ones(2, 3, device="meta"), (2, 3), "float32"),
        "fake": (fake, (2, 3), "float32"),
        "zero": (torch._efficientzerotensor(2, 3), (2, 3), "float32"),
        "nested": (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), (), "float32"),
        "jagged": (
            torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
            (2, 0),
            "float32",
        ),
        "quantized": (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), (2,), "quint8"),
        "subclass": (torch.Tensor._make_subclass(Subclass, torch.ones(2)), (2,), "float32"),
        "freed": (freed, (8,), "float32"),
        "shrunk": (shrunk, (8,), "float32"),
        "functional": (torch._to_functional_tensor(torch.ones(2)), (2,), "float32"),
        "uninitialized": (torch.nn.UninitializedParameter(), (), "float32"),
    }


@pytest.mark.filterwarnings("ignore")
def test_a_tensor_without_elements_has_a_shape_and_a_dtype():
    from microtape.recording.pytorch.reading.values import Values, shape_and_dtype, value_of

    for name, (tensor, shape, dtype) in unreadable().items():
        assert (name, value_of(tensor), Values().of(tensor)) == (name, None, None)
        assert (name, *shape_and_dtype(tensor)) == (name, shape, dtype)
    assert value_of(None) is None
    assert Values().of(None) is None


def test_a_tensor_of_a_subclass_with_ordinary_memory_is_read_without_a_word_to_it():
    import torch

    from microtape.recording.pytorch.reading.values import Values, value_of

    calls = []

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            calls.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

        def numel(self):
            raise RuntimeError("asked for its size")

    for rows in (2, 20):
        plain = torch.arange(100.0 * rows).reshape(rows, 100).requires_grad_()
        own = plain.detach().as_subclass(Own).requires_grad_()
        calls.clear()
        assert same(value_of(own), plain.detach().numpy())
        assert same(Values().of(own), plain.detach().numpy())
        assert calls == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.jit.script, which torch uses
def test_a_tensor_inside_of_a_transform_has_elements_unless_it_stands_for_many():
    import torch

    from microtape.recording.pytorch.reading.values import Values, shape_and_dtype, value_of

    seen = []

    def function(x):
        values = Values()
        found = values.of(x)
        elements = found.tolist() if found is not None else None
        seen.append((value_of(x), elements, *shape_and_dtype(x), values.met_examples))
        return (x * x).sum()

    for transform in (torch.func.grad, torch.func.hessian, lambda function: torch.func.grad(torch.func.grad(function))):
        transform(function)(torch.tensor(2.0))
        assert seen == [(None, 2.0, (), "float32", False)]
        seen.clear()
    torch.func.functionalize(function)(torch.ones(3))
    assert seen == [(None, None, (3,), "float32", False)]
    seen.clear()
    torch.func.vmap(torch.func.grad(function))(torch.ones(4, 3))
    torch.func.vmap(function)(torch.ones(4, 3))
    assert seen == [(None, None, (3,), "float32", True)] * 2


def test_the_gradients_of_a_batched_backward_have_no_elements():
    import torch

    from microtape.recording.pytorch.reading.values import shape_and_dtype, value_of

    x = torch.ones(3, requires_grad=True)
    y = x * x
    seen = []
    y.register_hook(lambda gradient: seen.append((value_of(gradient), *shape_and_dtype(gradient))))
    torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert seen == [(None, (3,), "float32")]


def test_a_symbolic_size_counts_as_its_hint():
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    from microtape.recording.pytorch.reading.values import shape_and_dtype, value_of

    mode = FakeTensorMode(shape_env=ShapeEnv())
    fake = mode.from_tensor(torch.ones(5, 3), static_shapes=False)
    assert shape_and_dtype(fake) == ((5, 3), "float32")
    assert value_of(fake) is None


def test_a_compiler_does_not_trace_a_reading():
    import torch

    from microtape.recording.pytorch.reading.values import Values, value_of

    seen = []

    def function(x):
        y = x.exp()
        seen.append((value_of(y), Values().of(y)))
        return y * 2

    x = torch.ones(3)
    compiled = torch.compile(function, backend="eager")
    assert torch.equal(compiled(x), function(x))
    assert all(one is None or same(one, x.exp().numpy()) for one in seen[0])


def test_reading_is_no_operation():
    """Nothing that a program can observe: modes, sequence numbers, random state, versions, sizes that may change."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    from microtape.recording.pytorch.reading.values import Values, shape_and_dtype, value_of

    seen = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Dispatched(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    x = torch.randn(3, 4, requires_grad=True)
    complex_ = torch.randn(3, dtype=torch.complex64)
    kinds = [x, x.exp(), x.detach().t(), torch.randn(LARGE), torch.ones(3).bfloat16(), torch.randn(LARGE).bfloat16()]
    kinds += [complex_.conj(), complex_.conj().imag, torch.eye(4).to_sparse(), torch.eye(200).to_sparse()]
    before = [
        (torch._C._autograd._get_sequence_nr(), torch.get_rng_state().tolist(), kind._version, kind.grad_fn)
        for kind in kinds
    ]
    with Functions(), Dispatched():
        for kind in kinds:
            assert value_of(kind) is not None
            assert Values().of(kind) is not None
            shape_and_dtype(kind)
    assert seen == []
    assert before == [
        (torch._C._autograd._get_sequence_nr(), torch.get_rng_state().tolist(), kind._version, kind.grad_fn)
        for kind in kinds
    ]
    for kind in kinds:
        if kind.layout is torch.strided and not kind.requires_grad:
            kind.untyped_storage().resize_(1 << 20)  # `Tensor.numpy()` would forbid it


def test_a_tensor_of_inference_mode_is_read():
    import torch

    from microtape.recording.pytorch.reading.values import Values, value_of

    with torch.inference_mode():
        x = torch.arange(3.0)
        assert same(Values().of(x), np.arange(3, dtype=np.float32))
    assert same(value_of(x), np.arange(3, dtype=np.float32))


def test_nothing_is_held():
    import torch

    from microtape.recording.pytorch.reading.values import Values, value_of

    values = Values()
    for make in (lambda: torch.randn(10), lambda: torch.randn(LARGE), lambda: torch.randn(LARGE).bfloat16()):
        tensor = make()
        storage = tensor.untyped_storage()
        uses = sys.getrefcount(tensor), sys.getrefcount(storage), torch._C._storage_Use_Count(storage._cdata)
        kept = value_of(tensor), values.of(tensor), values.of(tensor)
        assert (sys.getrefcount(tensor), sys.getrefcount(storage), torch._C._storage_Use_Count(storage._cdata)) == uses
        gone = weakref.ref(tensor)
        del tensor
        gc.collect()
        assert gone() is None
        assert torch._C._storage_Use_Count(storage._cdata) == uses[-1] - 1
        del kept


def test_a_value_does_not_change_with_its_tensor():
    import torch

    from microtape.recording.pytorch.reading.values import value_of

    for x in (torch.zeros(3), torch.zeros(3, 3).t(), torch.zeros(3).bfloat16(), torch.zeros(3) > 0):
        value = value_of(x)
        x.fill_(1)
        assert not value.any()


def test_gradients_are_stolen_and_equal_to_the_bit():
    import torch

    from microtape.recording.pytorch.reading.values import Values

    def backward(reader):
        torch.manual_seed(0)
        weights = [torch.nn.Parameter(torch.randn(side, side)) for side in (20, 20, 20)]
        h = torch.randn(20, 20)
        for weight in weights:
            h = (h @ weight).tanh() + h * 0.5
        loss = (h * h).sum()
        nodes, arrived = [loss.grad_fn], {}
        for node in nodes:
            nodes += [one for one, _ in node.next_functions if one is not None and one not in nodes]

        def arrives(node, gradients):
            arrived[node] = gradients[0].data_ptr()

        for node in nodes:
            if hasattr(node, "variable"):
                node.register_prehook(lambda gradients, node=node: arrives(node, gradients))
            node.register_hook(lambda left, came: [reader(one) for one in (*left, *came)] and None)
        loss.backward()
        stolen = [arrived[node] == node.variable.grad.data_ptr() for node in nodes if node in arrived]
        return [weight.grad for weight in weights], stolen

    values, kept = Values(), []
    plain, stolen = backward(lambda gradient: None)
    read, still_stolen = backward(lambda gradient: kept.append(values.of(gradient)))
    assert stolen == still_stolen == [True] * 3
    assert all(map(torch.equal, plain, read))
    assert any(isinstance(one, np.ndarray) for one in kept)


def test_tensors_that_show_the_same_elements_share_a_value():
    import torch

    from microtape.recording.pytorch.reading.values import Values

    values, x = Values(), torch.arange(3000.0).reshape(2, 1500)  # fewer than 1,024 elements are copied again
    value = values.of(x)
    assert values.of(x.view(2, 1500)) is value
    assert values.of(x.detach()) is value
    different = [
        x.t(),
        x[0],
        x.view(3000),
        x.view(torch.int32),
        x[:, :2],
        x[1:],
        x.expand(2, 2, 1500),
        torch._neg_view(x),
    ]
    for other in different:
        assert values.of(other) is not value
        assert same(values.of(other), other.resolve_neg().numpy())
    values.clear()
    assert values.of(x) is not value


@given(st.data(), st.sampled_from(["f2", "f4", "f8", "i4", "?", "c8"]))
def test_views_of_the_same_memory_share_its_copy_and_show_their_own_elements(data, dtype):
    import torch

    from microtape.recording.pytorch.reading.values import Values

    values = Values()
    sides = data.draw(st.permutations([2, 30, 40]))
    array = (np.arange(2400) % 251).astype(dtype).reshape(sides)
    tensor = torch.from_numpy(array)
    assert same(values.of(tensor), array)
    for _ in range(data.draw(st.integers(1, 5))):
        order = data.draw(st.permutations(range(3)))
        view, expected = tensor.permute(order), array.transpose(order)
        start = data.draw(st.integers(0, 1))
        view, expected = view[start:], expected[start:]
        if data.draw(st.booleans()):
            view, expected = view[None], expected[None]
        assert same(values.of(view), expected)
        if dtype in ("f2", "f4", "f8", "i4") and not start:
            assert np.shares_memory(values.of(view), values.of(tensor))


def test_a_tensor_that_was_written_to_has_another_value():
    import torch

    from microtape.recording.pytorch.reading.values import Values

    values, x = Values(), torch.zeros(3)
    before = values.of(x)
    x.add_(1)
    assert before.tolist() == [0, 0, 0]
    assert values.of(x).tolist() == [1, 1, 1]


def test_copies_beyond_the_budget_become_summaries():
    import torch

    from microtape.recording.pytorch.reading.values import Budget, Values

    few, many, most = torch.zeros(1024), torch.zeros(1025), torch.zeros(LARGE)
    budget = Budget(4 * 1025)
    values = Values(budget)
    assert isinstance(values.of(most), Summary)  # takes nothing of the budget
    assert isinstance(values.of(many), np.ndarray)
    assert isinstance(values.of(many), np.ndarray)  # the same copy again
    assert isinstance(values.of(few), np.ndarray)  # in any case
    assert isinstance(values.of(torch.zeros(1025)), Summary)
    assert isinstance(Values(budget).of(torch.zeros(1025)), Summary)  # for all that share the budget
    assert isinstance(values.of(torch.zeros(1024)), np.ndarray)


def test_whatever_fails_gives_no_value(monkeypatch):
    import torch

    from microtape.recording.pytorch.reading import memory, quick, values

    def broken(*arguments):
        raise MemoryError

    monkeypatch.setattr(memory, "address_of", broken)
    monkeypatch.setattr(quick, "bytes_at", broken)
    monkeypatch.setattr(values, "bytes_at", broken)
    assert values.value_of(torch.ones(3)) is None
    assert values.Values().of(torch.ones(3)) is None
    assert values.shape_and_dtype("no tensor") == ((), "unknown")


def test_a_view_that_is_read_again_in_a_step_is_the_same_array(torch):
    from microtape.recording.pytorch.reading.values import Values

    values, weight = Values(), torch.randn(64, 32)
    whole = values.of(weight)
    views = []
    for _ in range(2):
        values.note(weight, whole)
        views.append(values.of(weight.T))
    assert views[0] is views[1]
    assert np.shares_memory(views[0], whole)
