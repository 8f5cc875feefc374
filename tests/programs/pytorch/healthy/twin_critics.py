import torch
from torch import nn


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.networks = []
        for i in range(2):
            self.networks.append(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)))
            self.add_module(f"q{i}", self.networks[i])

    def forward(self, pairs):
        return torch.stack([q(pairs).squeeze(1) for q in self.networks])


class Agent:
    def __init__(self):
        self.critics, self.targets = Critics(), Critics()
        for target, kept in zip(self.targets.parameters(), self.critics.parameters()):
            with torch.no_grad():
                target.copy_(kept)

    def learn(self, pairs, rewards, following, optimizer):
        with torch.no_grad():
            goal = rewards + 0.9 * self.targets(following).amin(0)
        optimizer.zero_grad()
        ((self.critics(pairs) - goal) ** 2).mean().backward()
        optimizer.step()


torch.manual_seed(0)
agent = Agent()
adam = torch.optim.Adam(agent.critics.parameters(), lr=0.01)
for _ in range(12):
    agent.learn(torch.randn(16, 3), torch.randn(16), torch.randn(16, 3), adam)
