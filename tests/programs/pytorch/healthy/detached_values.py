import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for episode in range(3):
    states, moves, returns = torch.randn(10, 3), torch.randint(0, 2, (10,)), torch.randn(10)
    chosen = actor(states).log_softmax(-1)[torch.arange(10), moves]
    values = critic(states)
    advantage = returns - values.detach().squeeze(1)
    loss = nn.functional.mse_loss(values.squeeze(1), returns) - (chosen * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
