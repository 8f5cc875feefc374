import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm1d(4)
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.first(x)).tanh()


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LayerNorm(4)
        self.encoder = Encoder()

    def forward(self, x):
        return self.encoder(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = Table()

    def forward(self, x):
        return self.table(x)


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 4)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
