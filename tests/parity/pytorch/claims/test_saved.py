"""Facts about torch on which its recorder rests: when saved tensors can be read, what they are, and their versions.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import gc
import re
import weakref
from contextlib import contextmanager

import pytest

from tests.parity.pytorch.watching import OWN_WARNINGS, torch_since

pytestmark = pytest.mark.filterwarnings(*OWN_WARNINGS)


def leaf(torch, *shape):
    return torch.full(shape or (3,), 0.5, requires_grad=True)


def saved(node):
    return [attribute for attribute in dir(node) if attribute.startswith("_saved_")]


def multiply_function(torch):
    class Multiply(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b, a * b)
            return a * b

        @staticmethod
        def backward(ctx, gradient):
            a, b, _ = ctx.saved_tensors
            return gradient * b, gradient * a

    return Multiply


def test_what_a_node_saved_are_its_attributes(torch):
    assert saved(leaf(torch).exp().grad_fn) == ["_saved_result"]
    assert saved((leaf(torch) * leaf(torch)).grad_fn) == ["_saved_other", "_saved_self"]
    assert saved(torch.cat([leaf(torch)]).grad_fn) == ["_saved_dim"]
    assert hasattr(leaf(torch).exp().grad_fn, "_raw_saved_result")


def test_what_backward_does_not_need_is_not_saved(torch):
    x = torch.ones(3)
    node = (leaf(torch) * x).grad_fn
    assert node._saved_self is None
    assert node._saved_other is x


def test_saved_numbers_stay_readable_after_the_pass_and_saved_tensors_do_not(torch):
    summed = (leaf(torch, 2, 3) * 1).sum(1)
    result = summed.exp()
    result.sum().backward()
    assert (summed.grad_fn._saved_dim, summed.grad_fn._saved_keepdim) == ((1,), False)
    with pytest.raises(RuntimeError, match="second time"):
        _ = result.grad_fn._saved_result


def test_the_record_of_a_freed_tensor_can_be_read_and_is_empty(torch):
    """NB: of a Function's node it cannot be read."""
    result, of_function = leaf(torch).exp(), multiply_function(torch).apply(leaf(torch), leaf(torch))
    (result + of_function).sum().backward()
    raw = result.grad_fn._raw_saved_result
    if torch_since("2.10"):
        assert (raw.data, raw.unpack_hook) == (None, None)
    with pytest.raises(RuntimeError, match="second time"):
        _ = of_function.grad_fn._raw_saved_tensors


def test_a_saved_input_is_the_same_object(torch):
    a = leaf(torch)
    b = a * 2
    node = (a * b).grad_fn
    assert node._saved_self is a
    assert node._saved_other is b


def test_a_saved_output_is_another_object_with_the_same_memory(torch):
    result = leaf(torch).exp()
    node = result.grad_fn
    assert node._saved_result is not result
    assert node._saved_result.untyped_storage()._cdata == result.untyped_storage()._cdata
    assert node._saved_result.grad_fn is node
    assert node._saved_result.output_nr == result.output_nr


def test_the_object_of_a_saved_input_lives_as_long_as_the_graph(torch):
    a = leaf(torch) * 2
    reference, identity = weakref.ref(a), id(a)
    result = (a * a).sum()
    del a
    gc.collect()
    assert reference() is not None
    assert id(result.grad_fn.next_functions[0][0]._saved_self) == identity
    result.backward()
    del result
    gc.collect()
    assert reference() is None


def test_what_a_function_saved(torch):
    a, b = leaf(torch), leaf(torch)
    result = multiply_function(torch).apply(a, b)
    node = result.grad_fn
    assert node.saved_tensors[0] is a
    assert node.saved_tensors[1] is b
    assert len(node._raw_saved_tensors) == 3
    assert node.needs_input_grad == (True, True)
    result.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = node.saved_tensors


def test_a_saved_tensor_that_can_be_read_has_the_version_at_which_it_was_saved(torch):
    a = leaf(torch) * 2
    with torch.no_grad():
        a.add_(1)
    node = (a * a).grad_fn
    assert node._saved_self._version == 1


def overwritten(torch):
    a = leaf(torch) * 1
    b = a * leaf(torch)
    with torch.no_grad():
        a.add_(1)
        a.add_(1)
    return a, b


def test_reading_a_tensor_that_was_overwritten_names_both_versions(torch):
    _, b = overwritten(torch)
    with pytest.raises(RuntimeError) as reading:
        _ = b.grad_fn._saved_self
    with pytest.raises(RuntimeError) as passing:
        b.sum().backward()
    for caught in (reading, passing):
        assert "modified by an inplace operation: [torch.FloatTensor [3]]" in str(caught.value)
        assert re.search(r"is at version (\d+); expected version (\d+)", str(caught.value)).groups() == ("2", "0")


def test_of_several_saved_tensors_the_one_that_cannot_be_read_was_overwritten(torch):
    _, b = overwritten(torch)
    assert b.grad_fn._saved_other is not None
    with pytest.raises(RuntimeError, match="expected version 0"):
        _ = b.grad_fn._saved_self


def test_the_error_names_the_node_that_made_the_tensor(torch):
    _, b = overwritten(torch)
    named = "Mul" if torch_since("2.13") else "MulBackward0"
    with pytest.raises(RuntimeError, match=f", which is output 0 of {named}, is at version 2"):
        b.sum().backward()


def test_the_record_of_a_saved_tensor_tells_it_unchecked_since_torch_2_10(torch):
    a, b = overwritten(torch)
    raw = b.grad_fn._raw_saved_self
    assert hasattr(raw, "data") == hasattr(raw, "unpack_hook") == torch_since("2.10")
    if torch_since("2.10"):
        assert raw.data.untyped_storage()._cdata == a.untyped_storage()._cdata
        assert raw.data._version == 2


WRITES = {  # how a program writes into a tensor, and how many versions later it is
    "operator": (lambda torch, y: y.__iadd__(1), 1),
    "assignment": (lambda torch, y: y.__setitem__(0, 5.0), 1),
    "view": (lambda torch, y: y.view(3, 1).mul_(2), 1),
    "out": (lambda torch, y: torch.no_grad()(lambda: torch.add(y, 1, out=y))(), 1),
    "detached": (lambda torch, y: torch._foreach_add_([y.detach()], 1), 1),
    "function": (lambda torch, y: torch.nn.functional.relu_(y), 1),
    "numpy": (lambda torch, y: y.detach().numpy().__setitem__(0, 7), 0),
}


@contextmanager
def written():
    """A list of (tensor, version before, version after) of each write that a function mode sees."""
    import torch
    from torch.overrides import TorchFunctionMode

    writes = []

    class Versions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            flat = [*args, *(kwargs or {}).values()]
            flat = [inner for one in flat for inner in (one if isinstance(one, (list, tuple)) else [one])]
            tensors = {id(one): one for one in flat if isinstance(one, torch.Tensor)}.values()
            before = [one._version for one in tensors]
            result = function(*args, **(kwargs or {}))
            writes.extend(
                (one, old, one._version) for one, old in zip(tensors, before, strict=True) if one._version != old
            )
            return result

    with Versions():
        yield writes


def memory(tensor):
    return tensor.untyped_storage()._cdata


@pytest.mark.parametrize("write", WRITES)
def test_a_function_mode_sees_the_version_of_a_tensor_rise_in_the_call_that_writes(torch, write):
    y = leaf(torch) * 2
    run, risen = WRITES[write]
    with written() as writes:
        run(torch, y)
    assert y._version == risen
    assert [(before, after) for one, before, after in writes if memory(one) == memory(y)] == [(0, 1)] * risen


def test_a_step_of_an_optimizer_is_seen_as_a_write(torch):
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([parameter], 1.0)
    parameter.grad = torch.ones(3)
    with written() as writes:
        optimizer.step()
    assert [(before, after) for one, before, after in writes if one is parameter] == [(0, 1)]


def test_data_is_the_same_memory_with_versions_of_its_own(torch):
    """NB: so a write through `data`, which no check sees, looks like one that counts to who goes by the memory."""
    y = leaf(torch) * 2
    with written() as writes:
        y.data.add_(1)
    assert [(memory(one) == memory(y), before, after) for one, before, after in writes] == [(True, 0, 1)]
    assert y._version == 0


def test_reading_a_saved_tensor_runs_the_users_unpack_hook(torch):
    """A checkpointed block would be computed once more."""
    from torch.utils.checkpoint import checkpoint

    runs = []

    def block(a):
        runs.append(1)
        return (a @ a).sin()

    result = checkpoint(block, leaf(torch, 3, 3) * 1, use_reentrant=False)
    assert len(runs) == 1
    _ = result.grad_fn._saved_self
    assert len(runs) == 2
    result.sum().backward()
    assert len(runs) == 3


def test_a_saved_tensor_tells_its_unpack_hook_since_torch_2_10(torch):
    if not torch_since("2.10"):
        pytest.skip("older versions of torch do not tell")
    unpacked = []

    def unpack(packed):
        unpacked.append(packed)
        return packed

    with torch.autograd.graph.saved_tensors_hooks(lambda one: one, unpack):
        hooked = leaf(torch).exp()
    assert hooked.grad_fn._raw_saved_result.unpack_hook is unpack
    _ = hooked.grad_fn._raw_saved_result.data
    assert leaf(torch).exp().grad_fn._raw_saved_result.unpack_hook is None
    assert unpacked == []


def test_what_enters_and_leaves_saved_tensors_hooks_can_be_replaced(torch):
    """For versions of torch that do not tell the unpack hook of a saved tensor."""
    manager, number = torch.autograd.graph.saved_tensors_hooks, torch._C._autograd._get_sequence_nr
    enter, leave, noted = manager.__enter__, manager.__exit__, []
    manager.__enter__ = lambda self: (noted.append(number()), enter(self))[1]
    manager.__exit__ = lambda self, *raised: (noted.append(number()), leave(self, *raised))[1]
    try:
        with torch.autograd.graph.save_on_cpu():
            inside = leaf(torch).exp()
    finally:
        manager.__enter__, manager.__exit__ = enter, leave
    assert noted[0] <= inside.grad_fn._sequence_nr() < noted[1]
    assert leaf(torch).exp().grad_fn._sequence_nr() >= noted[1]


def test_pack_hooks_switch_the_check_of_versions_off(torch):
    with torch.autograd.graph.saved_tensors_hooks(lambda one: one, lambda one: one):
        _, b = overwritten(torch)
    b.sum().backward()
