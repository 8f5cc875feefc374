import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
for episode in range(3):
    states = torch.randn(12, 4)
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    rewards = (actions == (states[:, 0] > 0)).float()
    values = critic(states).squeeze(1)
    advantages = rewards - values.detach()
    loss = -(policy.log_prob(actions) * advantages).mean() + (values - rewards).pow(2).mean()
    loss = loss - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
