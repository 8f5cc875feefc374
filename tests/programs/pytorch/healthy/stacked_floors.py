import torch
from torch import nn


class Building(nn.Module):
    def __init__(self):
        super().__init__()
        self.ground = nn.Linear(3, 8)
        self.floors = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
        self.roof = nn.Linear(8, 1)

    def forward(self, load):
        x = self.ground(load).tanh()
        for floor in self.floors:
            x = x + floor(x).tanh()
        return self.roof(x)


torch.manual_seed(2)
building = Building()
optimizer = torch.optim.Adam(building.parameters(), lr=0.01)
for step in range(4):
    load = torch.randn(16, 3)
    loss = nn.functional.mse_loss(building(load), load.prod(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
