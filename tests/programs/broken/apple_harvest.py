import microtape as mt
from microtape import nn, optim


class Orchard(nn.Module):
    def __init__(self):
        super().__init__()
        self.weather = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.yields = nn.Linear(8, 1)

    def forward(self, x):
        return self.yields(self.weather(x))


mt.manual_seed(0)
orchard = Orchard()
orchard.weather.requires_grad = False
optimizer = optim.Adam(orchard.parameters(), lr=0.01)
x, apples = mt.randn(16, 4), 3 + mt.randn(16, 1)
for _ in range(4):
    optimizer.zero_grad()
    loss = ((orchard(x) - apples) ** 2).mean()
    loss.backward()
    optimizer.step()
