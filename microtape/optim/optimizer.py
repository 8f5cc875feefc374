"""What all optimisers share: groups of parameters with options, the state of each parameter, and the loop of a step."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from microtape.basics.call_site import user_stacklevel
from microtape.basics.devices import ELSEWHERE
from microtape.tape.grad_mode import enable_grad, no_grad
from microtape.tape.tangents import one_write
from microtape.tape.watch import watch
from microtape.tensors.tensor import Tensor

__all__ = ["Optimizer", "required"]

Params: TypeAlias = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[dict[str, Any]]
"""Parameters, or (name, parameter) pairs, or groups: dicts with `params` and options of their own."""

_WORDS = {"lr": "learning rate", "eps": "epsilon value"}


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
"""As a default of an option: every group has to give it."""


def check_not_negative(**options: Any) -> None:
    """Raise ValueError for the first option that is below 0."""
    for name, value in options.items():
        if not value >= 0:
            raise ValueError(f"Invalid {_WORDS.get(name, f'{name} value')}: {value}")


class Optimizer:
    """Updates parameters by their `.grad`. A subclass says in `update` how, or has a `step` of its own.

    Args:
        params: parameters of any shapes, or groups of them; see `Params`.
        defaults: the options of groups that do not set them. `foreach` and `fused` change nothing here.

    Attributes:
        param_groups: one dict for each group: its `params` and its options, such as `lr`.
        state: what the optimiser remembers of each parameter, such as its momentum.

    Raises:
        TypeError: `params` is a tensor, or one of the parameters is none.
        ValueError: there are no parameters, one is no leaf, or two groups share one.
        NotImplementedError: an option asks for `differentiable` steps or for `capturable` ones, or a parameter is
            complex, which only SGD takes.
    """

    real_only = False  # whether the formula has squares of gradients, which make no sense for complex ones
    has_stepped = False  # since the first schedule was attached
    has_schedule = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _told(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{_type_name(params)}"
            )
        for option in ("differentiable", "capturable"):
            if defaults.get(option):
                raise NotImplementedError(f"{type(self).__name__}({option}=True) is not here; {ELSEWHERE}")
        if defaults.get("foreach") and defaults.get("fused"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __repr__(self) -> str:
        groups = []
        for i, group in enumerate(self.param_groups):
            options = "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
            groups.append(f"\nParameter Group {i}\n{options}")
        return f"{type(self).__name__} ({''.join(groups)})"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Update further parameters: `params` in `param_group`, with the options there. Raises as the class does."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _separate_names(param_group)
        params = param_group["params"]
        for one in params:
            if not isinstance(one, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_type_name(one)}")
            if not (one.is_leaf or one.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
            if self.real_only and one.is_complex():
                raise NotImplementedError(
                    f"{type(self).__name__} of complex parameters is not here: optimise real ones, of shape (..., 2), "
                    "and compute with view_as_complex(p)"
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=user_stacklevel(),
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if 'param_names' in param_group else 'without'} names to the optimizer"
                )
        if not set(params).isdisjoint(one for group in self.param_groups for one in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the `.grad` of all parameters; without `set_to_none`, fill those that there are with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad = p.grad.detach_() if p.grad.grad_fn is not None else p.grad.requires_grad_(False)
                    p.grad.zero_()

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient. `closure` computes the loss and the gradients anew.

        Returns what the closure returns, else None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if (g := p.grad) is not None:
                    g = -g if group.get("maximize") else g
                    one_write(f"{type(self).__name__}.step", p, self.update, p, g, group)
        return loss

    def update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """Write to the parameter `p` once: updated by its gradient `g`, of the same shape, with the group's options."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The state and the options, where parameters are numbers: 0 for the first one of the first group, ..."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        return {"state": {numbers.get(id(p), p): state for p, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the options of an optimiser with groups of the same sizes.

        Tensors get the dtypes of the parameters. Raises ValueError if the groups have other sizes.
        """
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(one["params"]) for one in groups] != [len(one["params"]) for one in saved]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        known: dict[Any, Tensor] = {}  # number -> parameter
        for group, new in zip(groups, saved, strict=True):
            known.update(zip(new["params"], group["params"], strict=True))
            names = {"param_names": group["param_names"]} if "param_names" in group else {}
            new.update({**self.defaults, **names, **new, "params": group["params"]})
        self.param_groups = saved
        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            p = known.get(number)
            self.state[number if p is None else p] = state if p is None else _converted(state, p)


def _told(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that tells the observer, if there is one, which parameters it was to update."""

    @functools.wraps(step)
    def told(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self.has_stepped = True
        if (watcher := watch.watcher) is not None:
            watcher.stepping([p for group in self.param_groups for p in group["params"]])
        returned = step(self, *args, **kwargs)
        if (watcher := watch.watcher) is not None:
            watcher.stepped([p for group in self.param_groups for p in group["params"]])
        return returned

    return told


Optimizer.step = _told(Optimizer.step)  # type: ignore[method-assign]


def _separate_names(group: dict[str, Any]) -> None:
    """Make `params` a list of parameters; if they came with names, `param_names` is the list of these."""
    params = group["params"]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    params = [params] if isinstance(params, Tensor) else list(params)
    names = [one[0] for one in params if isinstance(one, tuple)]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["params"] = [one[1] for one in params] if names else params
    if names:
        group["param_names"] = names


def _converted(value: Any, p: Tensor, name: str = "") -> Any:
    """A parameter's state with its tensors in the dtype of the parameter; the count of steps stays as it is."""
    if isinstance(value, Tensor):
        return value.to(p.dtype) if p.is_floating_point() and name != "step" else value
    if isinstance(value, dict):
        return {key: _converted(one, p, key) for key, one in value.items()}
    return type(value)(_converted(one, p) for one in value) if isinstance(value, list | tuple) else value


def _type_name(value: Any) -> str:
    if isinstance(value, Tensor):
        return str(value.type())
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
