"""Adam, and AdamW, whose weight decay does not go through the averages."""

from __future__ import annotations

import math
from typing import Any

from microtape.ops.elementwise.selection import maximum
from microtape.optim.optimizer import Optimizer, Params, check_not_negative
from microtape.tensors.factories import tensor, zeros_like

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Steps along the mean gradient m, divided by the root of its mean square v, each element by its own.

    In step t: m ← β₁ m + (1 - β₁) g,  v ← β₂ v + (1 - β₂) g²,  p ← p - lr m̂ / (√v̂ + ε),  where m̂ = m / (1 - β₁ᵗ) and
    v̂ = v / (1 - β₂ᵗ) undo that m and v began with 0. `weight_decay` λ adds λ p to g; if `decoupled_weight_decay`, p is
    scaled by 1 - lr λ instead. With `amsgrad`, v in the last formula is the largest so far.
    NB: one write to p, where torch's decoupled decay makes another, so that versions differ by one.
    Sources: Kingma and Ba (2015); amsgrad: Reddi et al. (2018); decoupled decay: Loshchilov and Hutter (2019).

    Raises ValueError for options below 0, and for betas that are 1 or more.
    """

    real_only = True

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_not_negative(lr=lr, eps=eps)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        check_not_negative(weight_decay=weight_decay)
        if not all(isinstance(beta, float) for beta in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        options = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, options)

    def update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """See Optimizer.update."""
        lr, decay, (beta1, beta2) = float(group["lr"]), group["weight_decay"], group["betas"]
        state = self.state[p]
        if not state:
            averages = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"] if group["amsgrad"] else ["exp_avg", "exp_avg_sq"]
            state.update(step=tensor(0.0), **{name: zeros_like(p) for name in averages})
        m, v = state["exp_avg"], state["exp_avg_sq"]
        state["step"] += 1
        t = state["step"].item()
        if decay != 0 and not group["decoupled_weight_decay"]:
            g = g.add(p, alpha=decay)
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"].copy_(maximum(state["max_exp_avg_sq"], v))
        root = v.sqrt() / math.sqrt(1 - beta2**t)
        start = p * (1 - lr * decay) if group["decoupled_weight_decay"] else p
        p.copy_(start.addcdiv(m, root.add_(group["eps"]), value=-lr / (1 - beta1**t)))


class AdamW(Adam):
    """Adam with decoupled weight decay. Source: Loshchilov and Hutter (2019)."""

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options, decoupled_weight_decay=True)
