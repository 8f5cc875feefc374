"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from microtape.optim.optimizer import Optimizer, Params, check_not_negative

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent: p ← p - lr d, where d = g + λ p, for a weight decay λ.

    With momentum μ and dampening τ: b ← μ b + (1 - τ) d,  p ← p - lr b. The first b is d. With `nesterov`,
    p ← p - lr (d + μ b). With `maximize`, the sign of g is changed first.
    Sources: Robbins and Monro (1951); momentum: Polyak (1964); Nesterov's, in this form: Sutskever et al. (2013).
    NB: as in torch, lr scales the momentum when it is used; in the paper, it scales the gradients that are added to it.

    Raises ValueError for options below 0, and for `nesterov` without momentum or with dampening.
    """

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, options)

    def update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """See Optimizer.update."""
        d, momentum = g, group["momentum"]
        if group["weight_decay"] != 0:
            d = d.add(p, alpha=group["weight_decay"])
        if momentum != 0:
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = d.clone()
            else:
                state["momentum_buffer"].mul_(momentum).add_(d, alpha=1 - group["dampening"])
            b = state["momentum_buffer"]
            d = d.add(b, alpha=momentum) if group["nesterov"] else b
        p.add_(d, alpha=-float(group["lr"]))
