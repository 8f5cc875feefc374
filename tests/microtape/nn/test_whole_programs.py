"""Modules together with what else a training program uses: optimisers, loaders, files, function transforms."""

from __future__ import annotations

import copy
from pathlib import Path

import microtape as mt
from microtape import func, nn, optim
from microtape.utils.data import DataLoader, TensorDataset


def made() -> nn.Module:
    mt.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))


def trained(model: nn.Module, optimizer: optim.Optimizer, epochs: int) -> list[float]:
    mt.manual_seed(1)
    x = mt.randn(12, 2)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, shuffle=True)
    losses = []
    for _ in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = (model(inputs) - targets).pow(2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_training_goes_on_from_a_file_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    model = made()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    trained(model, optimizer, 3)
    mt.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path / "run.mt")
    losses = trained(model, optimizer, 2)

    state = mt.load(tmp_path / "run.mt")
    other = made()
    assert str(other.load_state_dict(state["model"])) == "<All keys matched successfully>"
    following = optim.Adam(other.parameters(), lr=1.0)
    following.load_state_dict(state["optimizer"])
    assert state["epoch"] == 3
    assert trained(other, following, 2) == losses


def test_a_parameter_comes_back_from_a_file_as_a_parameter(tmp_path: Path) -> None:
    linear = nn.Linear(2, 3)
    mt.save([linear.weight, linear.bias.detach()], tmp_path / "weights.mt")
    weight, bias = mt.load(tmp_path / "weights.mt")
    assert type(weight) is nn.Parameter
    assert weight.requires_grad
    assert type(bias) is mt.Tensor
    assert mt.equal(weight, linear.weight)
    assert mt.equal(bias, linear.bias)


def test_the_gradient_of_a_functional_call_is_that_of_the_module() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x = mt.randn(5, 2)
    parameters = dict(model.named_parameters())

    def loss(values: dict[str, mt.Tensor]) -> mt.Tensor:
        result: mt.Tensor = func.functional_call(model, values, (x,)).pow(2).sum()
        return result

    gradients = func.grad(loss)(parameters)
    model(x).pow(2).sum().backward()
    for name, parameter in model.named_parameters():
        assert mt.equal(gradients[name], parameter.grad)


def test_a_copy_of_a_module_learns_by_itself() -> None:
    model = made()
    teacher = copy.deepcopy(model)
    before = [one.clone() for one in teacher.parameters()]
    trained(model, optim.SGD(model.parameters(), lr=0.1), 1)
    assert all(mt.equal(one, other) for one, other in zip(teacher.parameters(), before, strict=True))
    assert not any(mt.equal(one, other) for one, other in zip(model.parameters(), before, strict=True))
