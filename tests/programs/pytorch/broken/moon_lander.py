import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
body, actor, critic = nn.Linear(4, 16), nn.Linear(16, 3), nn.Linear(16, 1)
parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
for episode in range(4):
    states, returns = torch.randn(8, 4), torch.randn(8)
    h = torch.relu(body(states))
    policy, values = Categorical(logits=actor(h)), critic(h).squeeze(1)
    actions = policy.sample()
    advantages = returns - values
    actor_loss = -(policy.log_prob(actions) * advantages).mean()
    critic_loss = advantages.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
