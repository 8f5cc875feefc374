"""Facts about torch on which its recorder rests: gradients that hooks get and that have no elements to read.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import io
from contextlib import contextmanager

import pytest

from tests.parity.pytorch.watching import OWN_WARNINGS, name, walk

pytestmark = pytest.mark.filterwarnings(
    *OWN_WARNINGS, "ignore:.*nested tensors is in prototype:UserWarning", "ignore:Sparse .* support:UserWarning"
)


@contextmanager
def gradients(look):
    """Call `look` with each gradient that a node of a pass gets or sends, inside of its post-hook."""
    from torch.autograd import Variable

    original = Variable._execution_engine

    class Engine(type(original)):
        def run_backward(self, outputs, *arguments, **keywords):
            nodes, _ = walk(*[one.grad_fn for one in outputs])
            handles = [
                node.register_hook(lambda made, got: [look(one) for one in (*made, *got) if one is not None] and None)
                for node in nodes
            ]
            try:
                return super().run_backward(outputs, *arguments, **keywords)
            finally:
                for handle in handles:
                    handle.remove()

    Variable._execution_engine = Engine()
    try:
        yield
    finally:
        Variable._execution_engine = original


def has_elements(torch, tensor):
    """Whether a tensor on the CPU has elements that can be read. NB: a nested tensor may claim to be a plain one."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not tensor.is_nested
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        and not torch._C._functorch.is_legacy_batchedtensor(tensor)
        and not tensor._is_zerotensor()
    )


def elements(torch, tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor).numpy()


def batched(torch):
    w = torch.ones(3, 3, requires_grad=True)
    torch.autograd.grad(w @ w, w, torch.ones(2, 3, 3), is_grads_batched=True)


def func_grad(torch):
    torch.func.grad(lambda a: (a * a).sum())(torch.ones(3))


def vmap(torch):
    torch.func.vmap(torch.func.grad(lambda a: (a * a).sum()))(torch.ones(2, 3))


def func_hessian(torch):
    torch.func.hessian(lambda a: (a**3).sum())(torch.ones(2))


def sparse(torch):
    torch.nn.Embedding(9, 3, sparse=True)(torch.tensor([1, 2, 1])).sum().backward()


def meta(torch):
    a = torch.ones(3, device="meta", requires_grad=True)
    (a * a).sum().backward()


def fake(torch):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        a = torch.ones(3, requires_grad=True)
        (a * a).sum().backward()


def nested(torch):
    parts = [torch.ones(2), torch.ones(3)]
    a = torch.nested.nested_tensor(parts, layout=torch.strided, requires_grad=True)
    torch.nested.to_padded_tensor(a * 2, 0).sum().backward()


def jagged(torch):
    parts = [torch.ones(2), torch.ones(3)]
    a = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    (a * 2).values().sum().backward()


def conjugated(torch):
    a = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    (a * a.conj()).abs().sum().backward()


def bfloat16(torch):
    a = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    (a * a).sum().backward()


def subclass(torch):
    class Named(torch.Tensor):
        """A tensor that behaves like any other."""

    a = torch.ones(3).as_subclass(Named).requires_grad_()
    (a * a).sum().backward()


def inference_mode(torch):
    a = torch.ones(3, requires_grad=True)
    loss = (a * a).sum()
    with torch.inference_mode():
        loss.backward()
    assert a.grad.is_inference()


WITHOUT = [batched, func_grad, vmap, func_hessian, sparse, meta, fake, nested, jagged]
WITH = [conjugated, bfloat16, subclass, inference_mode]


@pytest.mark.parametrize("program", WITHOUT + WITH)
def test_a_gradient_without_elements_can_be_told_before_it_is_read(torch, program):
    told, wrong = [], []

    def look(gradient):
        told.append(has_elements(torch, gradient))
        try:
            elements(torch, gradient)
            readable = True
        except (RuntimeError, TypeError):
            readable = False
        if readable != told[-1]:
            wrong.append(gradient)

    with gradients(look):
        program(torch)
    assert wrong == []
    assert told
    assert all(told) == (program in WITH)


@pytest.mark.parametrize("program", [*WITHOUT, conjugated, bfloat16])
def test_shape_and_dtype_of_any_gradient_can_be_read(torch, program):
    told = []

    def look(gradient):
        told.append((gradient.dim(), gradient.dtype))
        if not gradient.is_nested:
            tuple(gradient.shape)

    with gradients(look):
        program(torch)
    assert told


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor:UserWarning")
@pytest.mark.parametrize("program", [meta, fake])
def test_tensors_without_memory_have_all_the_same_address(torch, program):
    addresses = set()
    with gradients(lambda gradient: addresses.add(gradient.data_ptr())):
        program(torch)
    assert addresses == {0}


def test_batched_gradients_cannot_even_be_detached(torch):
    raised = []

    def look(gradient):
        with pytest.raises(RuntimeError, match="Batching rule not implemented"):
            gradient.detach()
        raised.append(gradient)

    with gradients(look):
        batched(torch)
    assert raised


def test_a_sparse_gradient_has_values(torch):
    sparse_ones = []
    with gradients(lambda one: sparse_ones.append(one._values().tolist()) if one.is_sparse else None):
        sparse(torch)
    assert sparse_ones == [[[1] * 3] * 3] * len(sparse_ones) != []


def test_autocast_adds_nodes_that_cast(torch):
    w = torch.ones(3, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = torch.nn.functional.linear(torch.ones(2, 3), w).float().sum()
    assert [name(node) for node in walk(loss.grad_fn)[0]].count("ToCopyBackward0") == 2


def test_attributes_of_a_tensor_are_written_into_files(torch):
    tensor, file = torch.ones(2), io.BytesIO()
    tensor.noted = 1
    torch.save(tensor, file)
    file.seek(0)
    assert torch.load(file, weights_only=False).noted == 1
