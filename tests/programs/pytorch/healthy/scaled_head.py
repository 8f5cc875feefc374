import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 6)
        self.head = nn.Linear(6, 1)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        scale = self.scale.clamp(min=0.1)
        return self.head(torch.relu(self.body(x))) * scale


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    x, y = torch.randn(8, 6), torch.randn(8, 1)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
