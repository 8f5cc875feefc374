import torch
from torch import nn, optim

torch.manual_seed(0)
policy, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)


def summed_up(rewards, gamma=0.99):
    total, found = 0.0, []
    for one in reversed(rewards):
        total = one + gamma * total
        found.insert(0, total)
    return torch.tensor(found)


for length in (3, 5, 2, 4):
    states = torch.randn(length, 4)
    goal = summed_up([1.0] * length)
    values = critic(states)[:, 0]
    with torch.no_grad():
        advantage = goal - values
        scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    chosen = policy(states).log_softmax(dim=-1)[:, 0]
    loss = -(chosen * scaled).mean() + ((values - goal) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
