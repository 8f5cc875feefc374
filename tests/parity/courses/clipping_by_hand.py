"""Exploding gradients of a deep recurrence: clipped by value, by norm, by hand and with a hook."""

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

torch.manual_seed(2)


class Recurrence(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.step = nn.Linear(size, size)
        nn.init.orthogonal_(self.step.weight, gain=1.6)
        nn.init.zeros_(self.step.bias)
        self.out = nn.Linear(size, 1)

    def forward(self, x, steps=12):
        for _ in range(steps):
            x = torch.nn.functional.leaky_relu(self.step(x), 0.5)
        return self.out(x).squeeze(-1)


def clip_by_hand(parameters, max_norm):
    parameters = [p for p in parameters if p.grad is not None]
    total = torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in parameters]), 2)
    coefficient = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    for p in parameters:
        p.grad.detach().mul_(coefficient)
    return total


x, y = torch.randn(16, 6), torch.randn(16)
norms = {}
for how in ("norm", "hand", "value", "hook"):
    torch.manual_seed(4)
    model = Recurrence(6)
    if how == "hook":
        for p in model.parameters():
            p.register_hook(lambda grad: torch.clamp(grad, -0.1, 0.1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(6):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        if how == "norm":
            norms.setdefault(how, []).append(clip_grad_norm_(model.parameters(), max_norm=1.0).item())
        elif how == "hand":
            norms.setdefault(how, []).append(clip_by_hand(model.parameters(), 1.0).item())
        elif how == "value":
            clip_grad_value_(model.parameters(), clip_value=0.1)
        optimizer.step()
    largest = max(p.grad.abs().max().item() for p in model.parameters())
    print(f"{how:6s} loss {loss.item():10.4f}, largest gradient {largest:.4f}")
print("before clipping:", [f"{one:.3g}" for one in norms["norm"]])
print("same by hand:", torch.allclose(torch.tensor(norms["norm"]), torch.tensor(norms["hand"]), rtol=1e-3))
