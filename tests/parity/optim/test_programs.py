"""Optimisers and schedules in short programs: states, options, warnings and errors are torch's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import microtape
from tests.parity.observe import differences, run

NAMES = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")


def leaves(mt: Any) -> list[Any]:
    return [mt.tensor([1.0, -2.0], requires_grad=True), mt.tensor(3.0, requires_grad=True)]


def descend(optimizer: Any, params: list[Any], steps: int = 2) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        (params[0].pow(2).sum() + params[1] * 2).backward()
        optimizer.step()


def every_kind(mt: Any, params: Any) -> list[Any]:
    return [
        mt.optim.SGD(params, lr=0.1, momentum=0.9),
        *(getattr(mt.optim, name)(params) for name in NAMES),
        mt.optim.Adam(params, 0.1, (0.8, 0.9), amsgrad=True, weight_decay=0.1, foreach=True, fused=None),
        mt.optim.RMSprop(params, momentum=0.5, centered=True),
    ]


def groups_have_options_of_their_own(mt, see):
    a, b = leaves(mt)
    optimizer = mt.optim.SGD([{"params": [a], "lr": 0.5}, {"params": b, "momentum": 0.9}], lr=0.1)
    see(repr(optimizer), optimizer.defaults, len(optimizer.param_groups))
    c = mt.tensor(1.0, requires_grad=True)
    optimizer.add_param_group({"params": (one for one in [c]), "weight_decay": 0.1})
    descend(optimizer, [a, b])
    see(a, b, c, optimizer.param_groups, optimizer.state_dict())


def every_representation(mt, see):
    for optimizer in every_kind(mt, leaves(mt)):
        see(repr(optimizer))


def states_have_torchs_keys(mt, see):
    for i in range(8):
        params = leaves(mt)
        optimizer = every_kind(mt, params)[i]
        see(optimizer.state_dict())
        descend(optimizer, params)
        see(optimizer.state_dict())
        see.value(*params)
        see([{key: optimizer.state[one][key] for key in optimizer.state[one]} for one in params])


def states_can_be_loaded(mt, see):
    for i in range(8):
        params, others = leaves(mt), leaves(mt)
        optimizer, other = every_kind(mt, params)[i], every_kind(mt, others)[i]
        descend(optimizer, params)
        optimizer.param_groups[0]["lr"] = 0.07
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        descend(other, others)
        see.value(*others)
        see(other.state_dict()["param_groups"])
        for state in other.state.values():
            see(sorted(state))
            see.value(*state.values())


def a_state_takes_the_dtype_of_its_parameter(mt, see):
    params, others = leaves(mt), [one.detach().double().requires_grad_() for one in leaves(mt)]
    optimizer, other = mt.optim.Adam(params), mt.optim.Adam(others)
    descend(optimizer, params)
    other.load_state_dict(optimizer.state_dict())
    see(other.state_dict())
    descend(other, others)
    see(*others)


def a_state_must_fit(mt, see):
    one, two = mt.optim.SGD(leaves(mt)), mt.optim.SGD([{"params": [leaf]} for leaf in leaves(mt)])
    for other in (two, mt.optim.SGD(leaves(mt)[:1])):
        with see.raising():
            one.load_state_dict(other.state_dict())


def gradients_are_removed_or_filled_with_zeros(mt, see):
    params = leaves(mt)
    optimizer = mt.optim.SGD(params, lr=0.1)
    see(optimizer.zero_grad(), params[0].grad)
    descend(optimizer, params)
    optimizer.zero_grad(set_to_none=False)
    see(params[0].grad, params[1].grad)
    (params[0] * params[0]).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    see(params[0].grad)
    optimizer.zero_grad()
    see(params[0].grad, params[1].grad)


def parameters_without_a_gradient_stay_as_they_are(mt, see):
    for name in NAMES:
        params = leaves(mt)
        optimizer = getattr(mt.optim, name)(params, weight_decay=0.1)
        params[0].sum().backward()
        see(optimizer.step(), optimizer.state_dict()["state"])
        see.value(*params)


def a_closure_computes_the_loss_anew(mt, see):
    a, _ = params = leaves(mt)
    optimizer = mt.optim.SGD(params, lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    see(optimizer.step(closure), optimizer.step(closure=closure), a, mt.is_grad_enabled())


def parameters_may_have_names(mt, see):
    params = leaves(mt)
    optimizer = mt.optim.SGD(zip(["a", "b"], params, strict=True), lr=0.1)
    see(repr(optimizer), optimizer.param_groups[0]["param_names"], optimizer.state_dict())
    optimizer.load_state_dict(mt.optim.SGD(leaves(mt), lr=0.2).state_dict())
    see(optimizer.state_dict())
    with see.raising():
        optimizer.add_param_group({"params": leaves(mt)})
    with see.raising():
        mt.optim.SGD([("a", params[0]), params[1]])


def a_rate_may_be_a_tensor(mt, see):
    params = leaves(mt)
    optimizer = mt.optim.SGD(params, lr=mt.tensor(0.1))
    schedule = mt.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    descend(optimizer, params, 1)
    schedule.step()
    descend(optimizer, params, 1)
    see(repr(optimizer), *params, schedule.get_last_lr(), optimizer.param_groups[0]["lr"])


def options_are_checked(mt, see):
    wrong = [
        {"lr": -1}, {"eps": -1.0}, {"weight_decay": -0.5}, {"momentum": -1}, {"alpha": -1}, {"betas": (1.0, 0.5)},
        {"betas": (0.5, -0.1)}, {"betas": (0.5, 0)}, {"lr_decay": -1}, {"initial_accumulator_value": -1},
        {"nesterov": True}, {"nesterov": True, "momentum": 0.5, "dampening": 0.1}, {"foreach": True, "fused": True},
    ]  # fmt: skip
    for name in NAMES:
        known = getattr(mt.optim, name)(leaves(mt)).defaults
        for options in wrong:
            if set(options) <= set(known):
                with see.raising():
                    getattr(mt.optim, name)(leaves(mt), **options)


def parameters_are_checked(mt, see):
    a, b = leaves(mt)
    for params in ([], a, a.double(), iter([]), [a * 2], [a, 3.0], ["a"], {a, b}, [{"params": {a, b}}], 3, [[a]]):
        with see.raising():
            mt.optim.SGD(params)
    for groups in ([{"params": [a]}, {"params": [a, b]}], [{"lr": 1}], [{"params": [a]}, [b]]):
        with see.raising():
            mt.optim.SGD(groups)
    see(repr(mt.optim.SGD([a, a])))  # warns
    kept = (a * 2).requires_grad_()
    kept.retain_grad()
    see(len(mt.optim.SGD([kept]).param_groups))
    with see.raising():
        mt.optim.SGD([a]).add_param_group([b])


def an_optimiser_of_the_users(mt, see):
    class Sign(mt.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @mt.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        state = self.state[p]
                        state["count"] = state.get("count", 0) + 1
                        p.add_(p.grad.sign(), alpha=-group["lr"])

    params = leaves(mt)
    optimizer = Sign(params, lr=0.25)
    schedule = mt.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    descend(optimizer, params, 1)
    schedule.step()
    descend(optimizer, params, 1)
    see(*params, repr(optimizer), optimizer.state_dict(), schedule.get_last_lr())
    with see.raising():
        descend(mt.optim.Optimizer(params, {}), params)


def options_may_be_required(mt, see):
    from importlib import import_module

    module = import_module(f"{mt.__name__}.optim.optimizer")

    class Plain(module.Optimizer):
        def __init__(self, params, lr=module.required):
            super().__init__(params, {"lr": lr})

    see(repr(module.required), repr(Plain([{"params": leaves(mt), "lr": 0.1}])))
    with see.raising():
        Plain(leaves(mt))


PROGRAMS: list[Callable[..., None]] = [
    groups_have_options_of_their_own, every_representation, states_have_torchs_keys, states_can_be_loaded,
    a_state_takes_the_dtype_of_its_parameter, a_state_must_fit, gradients_are_removed_or_filled_with_zeros,
    parameters_without_a_gradient_stay_as_they_are, a_closure_computes_the_loss_anew, parameters_may_have_names,
    a_rate_may_be_a_tensor, options_are_checked, parameters_are_checked, an_optimiser_of_the_users,
    options_may_be_required,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program_observes_what_it_does_on_torch(program: Callable[..., None]) -> None:
    import torch

    found = differences(run(program, torch), run(program, microtape))
    assert not found, "\n".join(found)
