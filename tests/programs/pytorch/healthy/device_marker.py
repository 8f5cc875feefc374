import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.marker = nn.Parameter(torch.empty(0))
        self.cell, self.out = nn.LSTMCell(1, 8), nn.Linear(8, 1)

    def forward(self, waves):
        state = [torch.zeros(len(waves), 8, device=self.marker.device) for _ in range(2)]
        for one in waves.split(1, dim=1):
            state = self.cell(one, state)
        return self.out(state[0])


torch.manual_seed(0)
model = Waves()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
waves = torch.sin(torch.arange(30.0).reshape(3, 10))
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(waves[:, :-1]), waves[:, -1:])
    loss.backward()
    optimizer.step()
