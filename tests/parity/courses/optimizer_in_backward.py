"""The optimiser's step inside of backward, by hooks on the leaves: no gradient outlives its use."""

import torch
from torch import nn

torch.manual_seed(0)
X, y = torch.randn(16, 6), torch.randn(16, 2)


def make():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 2))


ordinary = make()
optimizer = torch.optim.Adam(ordinary.parameters(), lr=0.05)
for _ in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(ordinary(X), y).backward()
    optimizer.step()
print("ordinary:   ", nn.functional.mse_loss(ordinary(X), y).item())

fused = make()
optimizer_dict = {p: torch.optim.Adam([p], lr=0.05) for p in fused.parameters()}
order = []


def optimizer_hook(parameter) -> None:
    order.append(tuple(parameter.shape))
    optimizer_dict[parameter].step()
    optimizer_dict[parameter].zero_grad()


handles = [p.register_post_accumulate_grad_hook(optimizer_hook) for p in fused.parameters()]
for _ in range(8):
    nn.functional.mse_loss(fused(X), y).backward()
print("in backward:", nn.functional.mse_loss(fused(X), y).item())
print("order of the first pass:", order[:6])
print("gradients left:", [name for name, p in fused.named_parameters() if p.grad is not None])
for (name, one), other in zip(ordinary.named_parameters(), fused.parameters()):
    print(name, torch.allclose(one, other, atol=1e-5))

for handle in handles:
    handle.remove()
nn.functional.mse_loss(fused(X), y).backward()
print("without hooks:", sorted(name for name, p in fused.named_parameters() if p.grad is not None))
