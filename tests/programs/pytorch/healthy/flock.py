"""Birds that seek a place and keep apart: what moves them is put into .grad."""

import torch

torch.manual_seed(0)
target = torch.distributions.Normal(torch.tensor([1.0, -2.0]), 0.5)
birds = torch.randn(10, 2)
optimizer = torch.optim.Adam([birds], lr=0.1)


def wish(positions):
    seen = positions.detach().requires_grad_()
    (score,) = torch.autograd.grad(target.log_prob(seen).sum(), seen)
    near = (-(seen[:, None] - seen.detach()).square().sum(-1)).exp()
    (apart,) = torch.autograd.grad(near.sum(), seen)
    return (near.detach() @ score - apart) / len(positions)


for _ in range(5):
    optimizer.zero_grad()
    birds.grad = -wish(birds)
    optimizer.step()
print(birds.mean(0))
