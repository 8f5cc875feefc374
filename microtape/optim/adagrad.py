"""Adagrad."""

from __future__ import annotations

from typing import Any

from microtape.optim.optimizer import Optimizer, Params, check_not_negative
from microtape.tensors.factories import full_like, tensor

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Divides the gradient by the root of the sum s of all its squares:  s ← s + g²,  p ← p - lr g / (√s + ε).

    In step t, `lr_decay` d divides lr by 1 + (t - 1) d. `weight_decay` λ adds λ p to g.
    Source: Duchi, Hazan and Singer (2011).

    Raises ValueError for options below 0.
    """

    real_only = True

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_not_negative(
            lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, eps=eps,
        )  # fmt: skip
        options = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, options)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, group)

    def _begin(self, p: Any, group: dict[str, Any]) -> None:
        self.state[p].update(step=tensor(0.0), sum=full_like(p, group["initial_accumulator_value"]))

    def update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """See Optimizer.update."""
        state = self.state[p]
        if not state:  # of a group that was added later
            self._begin(p, group)
        state["step"] += 1
        if group["weight_decay"] != 0:
            g = g.add(p, alpha=group["weight_decay"])
        lr = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        s = state["sum"].addcmul_(g, g, value=1)
        p.addcdiv_(g, s.sqrt().add_(group["eps"]), value=-lr)
