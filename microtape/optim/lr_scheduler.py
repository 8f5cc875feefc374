"""Schedules: learning rates that change over time. A schedule's `step` is called after the optimiser's.

Each schedule starts from the rate that the optimiser has, and from then on changes the current rate, so that several
schedules, and changes by hand, work together. See `get_lr` of each for its formula.
"""

from __future__ import annotations

import math
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from microtape.absent import lacking as _lacking
from microtape.basics.call_site import user_stacklevel
from microtape.optim.optimizer import Optimizer
from microtape.tensors.tensor import Tensor

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "StepLR"]


class LRScheduler:
    """Sets the `lr` of each of the optimiser's groups. A subclass says in `get_lr` to what.

    Args:
        optimizer: its learning rates are the first ones.
        last_epoch: how many steps have been made, minus 1; -1 for a new schedule.

    Raises:
        TypeError: `optimizer` is none.
        KeyError: the schedule is to be continued, but the optimiser's groups have no `initial_lr`.
    """

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, (group, lr) in enumerate(zip(optimizer.param_groups, self._rates("lr"), strict=True)):
            if last_epoch == -1:
                group.setdefault("initial_lr", lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)"
                )
        self.base_lrs = self._rates("initial_lr")
        self.last_epoch = last_epoch
        if not optimizer.has_schedule:
            optimizer.has_schedule, optimizer.has_stepped = True, False
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _rates(self, option: str) -> list[Any]:
        """An option of each group; tensors are copied."""
        rates = [group[option] for group in self.optimizer.param_groups]
        return [one.clone() if isinstance(one, Tensor) else one for one in rates]

    def get_lr(self) -> list[Any]:
        """The next learning rate of each group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The learning rate of each group, as this schedule set it last."""
        return self._last_lr

    def step(self) -> None:
        """Set the next learning rates. Warns if the optimiser has made no step yet."""
        if self._step_count == 1 and not self.optimizer.has_stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
                "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                stacklevel=user_stacklevel(),
            )
        self._step_count += 1
        self.last_epoch += 1
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(float(lr))
            else:
                group["lr"] = lr
        self._last_lr = self._rates("lr")

    def _scaled(self, factor: float) -> list[Any]:
        """The current learning rates times `factor`."""
        self._warn_outside_of_step()
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside_of_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                stacklevel=user_stacklevel(),
            )

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimiser."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue as the schedule did whose `state_dict` this is."""
        vars(self).update(state_dict)


_LRScheduler = LRScheduler  # its name in programs for old versions of torch


class LambdaLR(LRScheduler):
    """lr = first lr · f(t) in step t, for a function `lr_lambda` or one for each group.

    Raises ValueError if the number of functions is not that of the groups.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]] | tuple[Callable[[int], float], ...],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """lr = first lr · f(t)."""
        self._warn_outside_of_step()
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimiser; of callable objects their attributes, of functions nothing."""
        functions = [None if isinstance(one, types.FunctionType) else vars(one).copy() for one in self.lr_lambdas]
        state = super().state_dict()
        del state["lr_lambdas"]
        return {**state, "lr_lambdas": functions}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue as the schedule did whose `state_dict` this is, with this schedule's functions."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            vars(function).update(attributes or {})


class StepLR(LRScheduler):
    """Multiplies the rates by γ in every `step_size`-th step."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """lr ← γ lr if t > 0 is a multiple of the step size."""
        return self._scaled(self.gamma if self.last_epoch > 0 and self.last_epoch % self.step_size == 0 else 1)


class MultiStepLR(LRScheduler):
    """Multiplies the rates by γ at each of the milestones, which are numbers of steps."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """lr ← γⁿ lr if t is a milestone n times."""
        times = self.milestones[self.last_epoch]
        return self._scaled(self.gamma**times if times else 1)


class ExponentialLR(LRScheduler):
    """Multiplies the rates by γ in every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """lr ← γ lr."""
        return self._scaled(1 if self._is_initial else self.gamma)


class CosineAnnealingLR(LRScheduler):
    """Lets the rates fall to `eta_min` along half a period of the cosine, in `T_max` steps; then they rise again.

    Source: Loshchilov and Hutter (2017), without restarts.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803 - torch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """lr ← η + (lr - η) (1 + cos(π t / T)) / (1 + cos(π (t - 1) / T)), so lr - η is as 1 + cos(π t / T).

        After a lowest point, where that would be 0 / 0, lr ← lr + (first lr - η) (1 - cos(π / T)) / 2.
        """
        lowest, t, period = self.eta_min, self.last_epoch, 2 * self.T_max
        rates = self._scaled(1)
        if self._is_initial:
            return rates
        if (t - 1 - self.T_max) % period == 0:
            rise = (1 - math.cos(2 * math.pi / period)) / 2
            return [lr + (first - lowest) * rise for lr, first in zip(rates, self.base_lrs, strict=True)]
        factor = (1 + math.cos(2 * math.pi * t / period)) / (1 + math.cos(2 * math.pi * (t - 1) / period))
        return [factor * (lr - lowest) + lowest for lr in rates]


__getattr__ = _lacking(__name__)
