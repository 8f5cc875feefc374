import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.001)
actor_optimizer = torch.optim.Adam(critic.parameters(), lr=0.001)
for step in range(6):
    wind, rudder, speed = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 1)
    error = (critic(torch.cat([wind, rudder], 1)) - speed).pow(2).mean()
    critic_optimizer.zero_grad()
    error.backward()
    critic_optimizer.step()
    slowness = -critic(torch.cat([wind, actor(wind)], 1)).mean()
    actor_optimizer.zero_grad()
    slowness.backward()
    actor_optimizer.step()
