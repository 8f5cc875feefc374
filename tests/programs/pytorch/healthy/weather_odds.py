"""A layer whose weights are drawn: it keeps the numbers of its sampler under names of its own."""

import torch
from torch import nn


class Drawn(nn.Module):
    def __init__(self, mean, scale):
        super().__init__()
        self.mean, self.scale = nn.Parameter(mean), nn.Parameter(scale)

    def forward(self):
        return self.mean + nn.functional.softplus(self.scale) * torch.randn_like(self.mean)


class Odds(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight_mean = nn.Parameter(0.1 * torch.randn(1, size))
        self.weight_scale = nn.Parameter(torch.full((1, size), -3.0))
        self.drawn = Drawn(self.weight_mean, self.weight_scale)

    def forward(self, x):
        return nn.functional.linear(x, self.drawn())


torch.manual_seed(0)
odds = Odds(5)
optimizer = torch.optim.Adam(odds.parameters(), lr=0.01)
for _ in range(3):
    days = torch.randn(32, 5)
    rain = (days.sum(1, keepdim=True) > 0).float()
    loss = nn.functional.binary_cross_entropy_with_logits(odds(days), rain)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
