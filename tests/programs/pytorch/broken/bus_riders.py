import torch
from torch import nn


class Riders(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, weather):
        return nn.functional.softplus(self.body(weather))


torch.manual_seed(0)
weather = torch.randn(48, 4)
riders = torch.poisson(torch.exp(0.5 + 0.4 * weather[:, :1]))
model = Riders()
criterion = nn.PoissonNLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    loss = criterion(model(weather), riders)
    loss.backward()
    optimizer.step()
