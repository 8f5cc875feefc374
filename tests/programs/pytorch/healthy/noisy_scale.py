import torch
from torch import nn


class Jitter(nn.Module):
    """Adds noise whose size is meant to be learned."""

    def __init__(self):
        super().__init__()
        self.spread = nn.Linear(3, 3)

    def forward(self, x):
        return x + self.spread(x).exp() * torch.randn_like(x)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 3), Jitter(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for _ in range(4):
    x = torch.randn(16, 5)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
