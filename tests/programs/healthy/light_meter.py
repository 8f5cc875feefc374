import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)


class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 16), nn.Linear(16, 1)
        self.squash = nn.Tanh()

    def forward(self, light):
        h = self.first(light)
        h = self.squash(h)
        return self.second(h)


meter = Meter()
optimizer = optim.Adam(meter.parameters(), lr=0.01)
light, exposure = mt.rand(32, 5), mt.rand(32, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(meter(light), exposure)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
