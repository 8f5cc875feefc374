"""Facts about torch on which its recorder rests: calls of modules, and the names of what they own.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.parity.pytorch.watching import name, walk


@contextmanager
def module_calls():
    """Replace `Module.__call__`, and note each module with the numbers at its begin and its end."""
    import torch

    number, original = torch._C._autograd._get_sequence_nr, torch.nn.Module.__call__
    noted, entered = [], []

    def call(module, *arguments, **keywords):
        entered.append(module)
        start = number()
        try:
            return original(module, *arguments, **keywords)
        finally:
            entered.pop()
            noted.append((start, number(), module, len(entered)))

    torch.nn.Module.__call__ = call
    try:
        yield noted
    finally:
        torch.nn.Module.__call__ = original
    assert entered == []


def test_the_numbers_of_a_modules_call_are_those_of_its_nodes(torch):
    first, second = torch.nn.Linear(3, 3), torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    model = torch.nn.Sequential(first, second)
    with module_calls() as noted:
        result = model(torch.ones(2, 3))
    paths = {id(module): path for path, module in model.named_modules()}
    scopes = {}
    for node in walk(result.grad_fn)[0]:
        number = node._sequence_nr()
        within = [(depth, paths[id(module)]) for start, stop, module, depth in noted if start <= number < stop]
        if within:
            scopes.setdefault(max(within)[1], set()).add(name(node))
    assert scopes == {"0": {"AddmmBackward0", "TBackward0"}, "1.0": {"AddmmBackward0", "TBackward0"},
                      "1.1": {"ReluBackward0"}}  # fmt: skip


def test_a_module_entered_from_outside_of_all_modules_names_the_parameters(torch):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    with module_calls() as noted:
        result = model(torch.ones(2))
    (outermost,) = [module for _, _, module, depth in noted if not depth]
    names = {id(parameter): path for path, parameter in outermost.named_parameters()}
    leaves = [node.variable for node in walk(result.sum().grad_fn)[0] if hasattr(node, "variable")]
    assert {names[id(leaf)] for leaf in leaves} == {"0.weight", "0.bias", "1.weight", "1.bias"}


class Failing:
    @staticmethod
    def module(torch):
        class Fails(torch.nn.Module):
            def forward(self, x):
                raise ValueError("mine")

        return torch.nn.Sequential(Fails())


def test_a_module_that_raises_is_left(torch):
    with module_calls() as noted, pytest.raises(ValueError, match="mine"):
        Failing.module(torch)(torch.ones(1))
    assert [depth for *_, depth in noted] == [1, 0]


def test_a_global_forward_hook_can_be_called_also_when_a_module_raises(torch):
    from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

    entered = []
    handles = [
        register_module_forward_pre_hook(lambda module, arguments: entered.append(module)),
        register_module_forward_hook(lambda module, arguments, result: entered.pop() and None, always_call=True),
    ]
    try:
        with pytest.raises(ValueError, match="mine"):
            Failing.module(torch)(torch.ones(1))
    finally:
        for handle in handles:
            handle.remove()
    assert entered == []


def test_a_module_whose_forward_is_called_by_itself_is_not_seen(torch):
    with module_calls() as noted:
        torch.nn.Linear(2, 2).forward(torch.ones(2))
    assert noted == []
