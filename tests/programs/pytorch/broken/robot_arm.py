import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional as F

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
actor_steps = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_steps = torch.optim.Adam(critic.parameters(), lr=1e-3)
for episode in range(4):
    state, following = torch.randn(2, 16, 4)
    policy = Normal(actor(state), 0.5)
    action, reward = policy.sample(), torch.randn(16)
    with torch.no_grad():
        reached = reward + 0.99 * critic(following).squeeze(1)
    value = critic(state).squeeze(1)
    error = reached - value
    actor_loss = -(policy.log_prob(action).sum(1) * error).mean()
    critic_loss = F.mse_loss(value, reached)
    actor_steps.zero_grad()
    critic_steps.zero_grad()
    (actor_loss + critic_loss).backward()
    actor_steps.step()
    critic_steps.step()
