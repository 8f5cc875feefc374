"""Tensors of all kinds: recorded programs compute the same, and the recording has values, or shapes and dtypes only."""

from __future__ import annotations

import re
from typing import Any

import pytest


def subclass(torch):
    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    return torch.linspace(-1, 1, 6).reshape(2, 3).as_subclass(Own).requires_grad_()


def wrapper(torch):
    from torch.utils._pytree import tree_map

    class Wrapped(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, strides=inner.stride())

        def __init__(self, inner):
            self.inner = inner

        def __tensor_flatten__(self):
            return ["inner"], None

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            args, kwargs = tree_map(lambda x: x.inner if isinstance(x, Wrapped) else x, (args, kwargs or {}))
            result = function(*args, **kwargs)
            return tree_map(lambda x: Wrapped(x) if isinstance(x, torch.Tensor) else x, result)

    return Wrapped(torch.linspace(-1, 1, 6).reshape(2, 3)).requires_grad_()


def fake(torch):
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode().from_tensor(torch.ones(2, 3)).requires_grad_()


def masked(torch):
    from torch.masked import masked_tensor

    data = torch.linspace(-1, 1, 6).reshape(2, 3)
    return masked_tensor(data, data > -0.5, requires_grad=True)


def quantized(torch):
    return torch.quantize_per_tensor(torch.linspace(-1, 1, 6).reshape(2, 3), 0.1, 0, torch.qint8)


def named(torch):
    if not hasattr(torch.Tensor, "refine_names"):
        pytest.skip("this version of torch has no named tensors")
    return torch.linspace(-1, 1, 6).reshape(2, 3).refine_names("a", "b").requires_grad_()


def buffer(torch):
    if not hasattr(torch.nn, "Buffer"):
        pytest.skip("torch has buffers of their own type since 2.5")
    return torch.nn.Buffer(torch.ones(2, 3)).requires_grad_()


def plain(dtype: str) -> Any:
    def make(torch):
        kind = getattr(torch, dtype)
        return torch.linspace(-1, 1, 6).reshape(2, 3).to(kind).requires_grad_(kind.is_floating_point or kind.is_complex)

    return make


def sparse(layout: str) -> Any:
    def make(torch):
        return torch.eye(3)[:2].to_sparse(layout=getattr(torch, layout)).requires_grad_()

    return make


KINDS: dict[str, Any] = {
    **{dtype: plain(dtype) for dtype in ("float16", "bfloat16", "float64", "complex64", "complex128")},
    "conjugated": lambda torch: plain("complex64")(torch).detach().conj().requires_grad_(),
    "named": named,
    "expanded": lambda torch: torch.linspace(-1, 1, 3).expand(2, 3).requires_grad_(),
    "empty": lambda torch: torch.empty(0, 3, requires_grad=True),
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(2, 3)),
    "buffer": buffer,
    "coo": sparse("sparse_coo"),
    "csr": sparse("sparse_csr"),
    "meta": lambda torch: torch.empty(2, 3, device="meta", requires_grad=True),
    "nested": lambda torch: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True),
    "jagged": lambda torch: torch.nested.nested_tensor(
        [torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged, requires_grad=True
    ),
    "quantized": quantized,
    "fake": fake,
    "subclass": subclass,
    "wrapper": wrapper,
    "masked": masked,
}
UNREADABLE = {"meta", "nested", "jagged", "fake", "wrapper", "masked"}


def backward(torch, x):
    (x * 2).sum().backward()
    return x.grad


def saved(torch, x):
    y = x * x
    y.sum().backward()
    return x.grad


def hooks(torch, x):
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient))
    y = x * 3
    y.register_hook(lambda gradient: gradient * 2)
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    y.sum().backward()
    return x.grad, y.grad, seen


def in_place(torch, x):
    y = x * 1
    y.mul_(3)
    y.sum().backward()
    return x.grad


def view(torch, x):
    y = x * 1
    y[0].sum().backward()
    return x.grad


def write_into_view(torch, x):
    y = x * 1
    y.view(-1)[1:].mul_(2)
    y.sum().backward()
    return x.grad


def update(torch, x):
    for _ in range(2):
        (x * 2).sum().backward()
        with torch.no_grad():
            x.sub_(x.grad, alpha=0.1)
        x.grad = None
    return x


def double(torch, x):
    (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    first.sum().backward()
    return first, x.grad


def dequantized(torch, x):
    w = torch.ones(2, 3, requires_grad=True)
    (w * (x.dequantize() if x.is_quantized else 2)).sum().backward()
    return w.grad


PROGRAMS = [backward, saved, hooks, in_place, view, write_into_view, update, double, dequantized]


def outcome(torch, kind, program):
    """What a program returns, or the error that it ends with, as something that can be compared."""
    torch.manual_seed(0)
    x = KINDS[kind](torch)
    try:
        return described(torch, program(torch, x))
    except Exception as error:
        return type(error).__name__, re.sub(r"j\d+", "j", str(error).partition("\n")[0])  # symbols are counted


def described(torch, thing):
    if isinstance(thing, tuple | list):
        return [described(torch, one) for one in thing]
    if not isinstance(thing, torch.Tensor):
        return thing
    about = type(thing).__name__, str(thing.dtype), str(thing.layout), str(thing.device)
    inner = getattr(thing, "inner", None)
    thing = inner if isinstance(inner, torch.Tensor) else thing
    if thing.device.type == "meta" or type(thing).__name__ == "FakeTensor":
        return (*about, tuple(thing.shape))
    if thing.is_nested:
        return (*about, [one.tolist() for one in thing.unbind()])
    if type(thing).__name__ == "MaskedTensor":
        return (*about, str(thing))
    if thing.layout is not torch.strided:
        thing = thing.detach().to_dense()
    return (*about, str(thing.detach().rename(None).resolve_conj().tolist()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_programs_with_tensors_of_a_kind_are_undisturbed(torch, kind, program):
    from microtape.recording.file.integrity import check_integrity
    from microtape.recording.model.model import Summary
    from microtape.recording.pytorch.recorder import TorchRecorder

    alone = outcome(torch, kind, program)
    if kind == "masked" and alone[0] == "AttributeError":
        pytest.skip("before 2.6, torch loses the mask of a gradient that nothing in Python holds")
    with TorchRecorder() as recorder:
        recorded = outcome(torch, kind, program)
    assert recorded == alone
    recording = recorder.recording
    assert recording.faults == ()
    check_integrity(recording)
    values = [one for tensor in recording.tensors if tensor.name == "x" for one in tensor.values.values()]
    if kind in UNREADABLE:
        assert values == []
        gradients = [one for each in recording.passes for step in each.steps for one in step.grad_inputs]
        assert all(one.min is None for one in gradients if isinstance(one, Summary))
    elif isinstance(alone, tuple) and isinstance(alone[0], str) and len(alone) == 2:
        return  # torch refuses the program
    elif recording.passes and program is not dequantized:
        assert values


def test_a_pass_from_a_tensor_of_a_subclass_has_the_line_that_called_it(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder() as recorder:
        loss = subclass(torch).square().sum()
        loss.backward()
    (one,) = recorder.recording.passes
    assert one.place is not None
    assert one.place.function == test_a_pass_from_a_tensor_of_a_subclass_has_the_line_that_called_it.__name__
    assert recorder.recording.tensors[one.root_tensors[0].tensor].name == "loss"


@pytest.mark.filterwarnings("ignore")
def test_a_leaf_that_a_pass_is_asked_for_is_not_looked_at_through_a_view(torch):
    """A subclass of the program's sees all that is computed with it, and may refuse a view."""
    from torch.utils._pytree import tree_map

    from microtape.recording.pytorch.recorder import TorchRecorder

    seen = []

    class Strict(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            seen.append(str(function))
            if "view" in seen[-1] or "clone" in seen[-1]:
                raise ValueError(seen[-1])
            args, kwargs = tree_map(lambda x: x.inner if isinstance(x, Strict) else x, (args, kwargs or {}))
            return tree_map(lambda x: Strict(x) if isinstance(x, torch.Tensor) else x, function(*args, **kwargs))

    def run():
        seen.clear()
        x, y, unused = (Strict(torch.ones(3)).requires_grad_() for _ in range(3))
        (x * y).sum().backward(inputs=[x])
        gradient, _ = torch.autograd.grad((y * 2).sum(), [y, unused], allow_unused=True)
        return [*x.grad.inner.tolist(), *gradient.inner.tolist(), *seen]

    alone = run()
    with TorchRecorder() as recorder:
        assert run() == alone
    assert recorder.recording.faults == ()
    assert [len(one.steps) for one in recorder.recording.passes] == [3, 2]
