import torch
from torch import nn
from torch.nn import functional as F


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.actor, self.critic = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)

    def policy(self, x):
        return F.softmax(self.actor(F.relu(self.body(x))), dim=1)

    def value(self, x):
        return self.critic(F.relu(self.body(x)))


torch.manual_seed(0)
model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(4):
    states, actions, targets = torch.randn(15, 4), torch.randint(0, 2, (15, 1)), torch.randn(15)
    advantage = targets - model.value(states).reshape(-1)
    chosen = model.policy(states).gather(1, actions).reshape(-1)
    loss = -(torch.log(chosen) * advantage.detach()).mean() + F.smooth_l1_loss(model.value(states).reshape(-1), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
