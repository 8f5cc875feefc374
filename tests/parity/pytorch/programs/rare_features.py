"""Programs with features of torch that few use, or that look at tensors more closely. Each returns what it computed."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils import swap_tensors


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> float:
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def swapped_tensors():
    """torch refuses to swap tensors to which there is a weak reference."""
    model, other = nn.Linear(3, 3), nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], 0.1)
    x, losses = torch.randn(4, 3), []
    for _ in range(3):
        losses += [_step(model, optimizer, x), _step(other, optimizer, x)]
        torch.utils.swap_tensors(model.weight, other.weight)
    return losses, *model.parameters(), *other.parameters()


def swapped_by_a_name_that_was_imported_before():
    model, other = nn.Linear(3, 3), nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], 0.1)
    x, losses = torch.randn(4, 3), []
    for _ in range(3):
        losses += [_step(model, optimizer, x), _step(other, optimizer, x)]
        swap_tensors(model.weight, t2=other.weight)
    return losses, *model.parameters(), *other.parameters()


def conversions_that_swap():
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        losses = [_step(model, optimizer, torch.randn(4, 3)) for _ in range(2)]
        model.double()
        losses += [_step(model, optimizer, torch.randn(4, 3).double()) for _ in range(2)]
        return losses, *model.parameters()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


def lazy_layers():
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.LazyLinear(1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return [_step(model, optimizer, torch.randn(4, 3)) for _ in range(3)], *model.parameters()


class Counting(torch.Tensor):
    """Counts the calls that it is asked about."""

    calls = 0

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls += 1
        return super().__torch_function__(function, types, args, kwargs or {})


def calls_of_a_subclass():
    Counting.calls = 0
    w, x = torch.randn(3, requires_grad=True), torch.randn(4, 3).as_subclass(Counting)
    for _ in range(2):
        loss = ((x @ w) - 1).square().mean()
        loss.backward()
        w.data.sub_(0.1 * w.grad)
    x += 1
    return Counting.calls, float(loss), w, torch.Tensor.as_subclass(x, torch.Tensor)


def a_profile_with_stacks():
    """torch's profiler reads the module of a call out of a variable of `nn.Module.__call__`."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with torch.profiler.profile(with_stack=True, activities=[torch.profiler.ProfilerActivity.CPU]):
        losses = [_step(model, optimizer, torch.randn(4, 3)) for _ in range(2)]
    return losses, *model.parameters()


class Taking(nn.Module):
    def forward(self, x, module):
        return module * x


def arguments_called_module():
    w = torch.randn(3, requires_grad=True)
    Taking()(torch.ones(3), module=w).sum().backward()
    return w.grad


def steps_in_hooks():
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizers = {one: torch.optim.Adam([one], 0.1) for one in model.parameters()}

    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for one in model.parameters():
        one.register_post_accumulate_grad_hook(step)
    x = torch.randn(4, 3)
    for _ in range(3):
        model(x).square().mean().backward()
    return list(model.parameters())


def an_exported_model():
    model = torch.export.export(nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True)), (torch.randn(4, 3),)).module()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return [_step(model, optimizer, torch.randn(4, 3)) for _ in range(2)], *model.parameters()
