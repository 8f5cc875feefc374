import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, z):
        return torch.relu(self.net(z))


torch.manual_seed(0)
body = nn.Linear(4, 3)
heads = nn.ModuleList([nn.Linear(3, 1) for _ in range(3)])
critic = Critic()
optimizer = torch.optim.SGD([*body.parameters(), *heads.parameters(), *critic.parameters()], lr=0.01)
x = torch.randn(5, 4)
for epoch in range(3):
    optimizer.zero_grad()
    z = torch.tanh(body(x))
    value = critic(z).pow(2).mean()
    losses = [head(z).pow(2).mean() for head in heads]
    for loss in losses:
        loss.backward(retain_graph=True)
    value.backward()
    optimizer.step()
