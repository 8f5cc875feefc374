import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(2, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
acts = torch.optim.SGD(actor.parameters(), lr=0.01)
judges = torch.optim.SGD(critic.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(4):
    acts.zero_grad()
    scaler.scale(-critic(actor(x)).mean()).backward()
    scaler.step(acts)
    scaler.update()
    judges.zero_grad()
    nn.functional.mse_loss(critic(actor(x).detach()), y).backward()
    judges.step()
