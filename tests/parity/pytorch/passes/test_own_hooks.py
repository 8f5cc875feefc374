"""The recorder's hooks on torch's nodes, which it puts there without handles."""

from __future__ import annotations

import pytest


def _nodes(torch):
    """A node of torch's, that of a Function of the program's, and an AccumulateGrad."""
    leaf = torch.ones(2, requires_grad=True)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    y = leaf * 3
    z = Double.apply(y)
    return z, {"node": y.grad_fn, "function": z.grad_fn, "leaf": y.grad_fn.next_functions[0][0]}


@pytest.mark.parametrize("kind", ["node", "function", "leaf"])
@pytest.mark.parametrize("method", ["register_hook", "register_prehook"])
def test_torch_asks_one_function_to_add_a_hook_to_those_of_a_node(torch, kind, method):
    from microtape.recording.pytorch.passes.own_hooks import OwnHook, OwnHooks

    z, nodes = _nodes(torch)
    ran = []
    with OwnHooks():
        hook = OwnHook(lambda *args: ran.append("ours"))
        hooks = getattr(nodes[kind], method)(hook)
        assert list(hooks) == [hook]
        handle = getattr(nodes[kind], method)(lambda *args: ran.append("the program's"))
    assert handle.hooks_dict_ref() is hooks
    z.sum().backward(retain_graph=True)
    hooks.pop(hook)
    z.sum().backward()
    assert ran == ["ours", "the program's", "the program's"]


def test_the_program_gets_handles_as_ever(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    before = vars(torch.autograd.Function).get("_register_hook")
    ran = []
    with TorchRecorder():
        z, nodes = _nodes(torch)
        handle = nodes["node"].register_hook(lambda made, got: ran.append("once"))
        z.sum().backward(retain_graph=True)
        assert type(handle) is torch.utils.hooks.RemovableHandle
        handle.remove()
        z.sum().backward(retain_graph=True)
    assert ran == ["once"]
    assert vars(torch.autograd.Function).get("_register_hook") is before


def test_a_pass_leaves_no_hook_on_any_node(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    z, nodes = _nodes(torch)
    with TorchRecorder() as recorder:
        z.sum().backward(retain_graph=True)
    assert len(recorder.recording.passes[0].steps) == 4
    for node in nodes.values():
        for put in (node.register_hook, node.register_prehook):
            assert len(put(lambda *args: None).hooks_dict_ref()) == 1


def test_a_hook_that_is_put_on_a_node_during_the_pass_runs_in_it(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    ran = []
    with TorchRecorder():
        z, nodes = _nodes(torch)

        def put(gradient):
            nodes["node"].register_hook(lambda made, got: ran.append("late"))

        z.register_hook(put)
        z.sum().backward()
    assert ran == ["late"]
