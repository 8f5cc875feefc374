"""Lookahead: an optimiser whose step calls that of another one."""

import torch
from torch import nn


class Lookahead(torch.optim.Optimizer):
    def __init__(self, inner, rounds=5, part=0.5):
        self.inner, self.rounds, self.part, self.count = inner, rounds, part, 0
        super().__init__([p for group in inner.param_groups for p in group["params"]], {})
        self.slow = [p.detach().clone() for p in self.param_groups[0]["params"]]

    @torch.no_grad()
    def step(self, closure=None):
        loss = self.inner.step(closure)
        self.count += 1
        if self.count % self.rounds == 0:
            for p, slow in zip(self.param_groups[0]["params"], self.slow):
                slow += self.part * (p - slow)
                p.copy_(slow)
        return loss


torch.manual_seed(5)
walk = torch.randn(64, 4)
end = walk.cumsum(1)[:, -1:]
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = Lookahead(torch.optim.AdamW(net.parameters(), lr=1e-2))
for day in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(walk), end)
    loss.backward()
    optimizer.step()
    print(day, loss.item())
