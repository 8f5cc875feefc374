import torch
from torch import nn


class Even(nn.Module):
    def forward(self, x):
        x = x.clone()
        x.register_hook(lambda grad: -grad)
        return x


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.senses = nn.Sequential(nn.Linear(6, 8), nn.Tanh())
        self.rain, self.even, self.station = nn.Linear(8, 1), Even(), nn.Linear(8, 3)

    def forward(self, readings):
        felt = self.senses(readings)
        return self.rain(felt), self.station(self.even(felt))


torch.manual_seed(0)
readings, station = torch.randn(30, 6), torch.randint(0, 3, (30,))
model = Forecast()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for day in range(4):
    wet, origin = model(readings)
    loss = (wet - readings[:, :1]).square().mean() + 0.1 * nn.functional.cross_entropy(origin, station)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
