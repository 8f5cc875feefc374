"""RMSprop."""

from __future__ import annotations

from typing import Any

from microtape.optim.optimizer import Optimizer, Params, check_not_negative
from microtape.tensors.factories import tensor, zeros_like

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Divides the gradient by the root of its mean square v:  v ← α v + (1 - α) g²,  p ← p - lr g / (√v + ε).

    With `centered`, by the root of its variance, v - a², where a is the mean gradient. With momentum μ, the quotients
    add up: b ← μ b + g / (√v + ε),  p ← p - lr b. `weight_decay` λ adds λ p to g.
    Sources: Hinton's lecture 6e (2012); centered: Graves (2013).

    Raises ValueError for options below 0.
    """

    real_only = True

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_not_negative(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        options = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, options)

    def update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """See Optimizer.update."""
        lr, alpha, momentum = float(group["lr"]), group["alpha"], group["momentum"]
        state = self.state[p]
        if not state:
            wanted = {"square_avg": True, "momentum_buffer": momentum > 0, "grad_avg": group["centered"]}
            state.update(step=tensor(0.0), **{name: zeros_like(p) for name, is_wanted in wanted.items() if is_wanted})
        state["step"] += 1
        if group["weight_decay"] != 0:
            g = g.add(p, alpha=group["weight_decay"])
        v = state["square_avg"].mul_(alpha).addcmul_(g, g, value=1 - alpha)
        if group["centered"]:
            a = state["grad_avg"].lerp_(g, 1 - alpha)
            v = v.addcmul(a, a, value=-1)
        root = v.sqrt().add_(group["eps"])
        if momentum > 0:
            b = state["momentum_buffer"].mul_(momentum).addcdiv_(g, root)
            p.add_(b, alpha=-lr)
        else:
            p.addcdiv_(g, root, value=-lr)
