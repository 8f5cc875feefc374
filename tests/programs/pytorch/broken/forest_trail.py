import torch
from torch import nn


class Stage(nn.Module):
    """A layer, and a trail around it."""

    def __init__(self, width):
        super().__init__()
        self.layer, self.norm = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x):
        x = torch.relu(self.layer(x))
        x = self.norm(x)
        trail = x
        x = x + trail
        return torch.relu(x)


torch.manual_seed(0)
forest = nn.Sequential(nn.Linear(5, 8), Stage(8), Stage(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(forest.parameters(), lr=0.01)
samples = torch.randn(32, 5)
heights = samples.square().sum(-1, keepdim=True)
for season in range(4):
    loss = (forest(samples) - heights).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
