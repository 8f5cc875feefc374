import microtape as mt
from microtape import nn, optim


class Stage(nn.Module):
    """A layer, and a trail around it."""

    def __init__(self, width):
        super().__init__()
        self.layer, self.norm = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x):
        x = mt.relu(self.layer(x))
        x = self.norm(x)
        trail = x
        x = x + trail
        return mt.relu(x)


mt.manual_seed(0)
forest = nn.Sequential(nn.Linear(5, 8), Stage(8), Stage(8), nn.Linear(8, 1))
optimizer = optim.SGD(forest.parameters(), lr=0.01)
samples = mt.randn(32, 5)
heights = samples.square().sum(-1, keepdim=True)
for season in range(4):
    loss = (forest(samples) - heights).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
