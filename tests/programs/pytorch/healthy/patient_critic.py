import torch
from torch import nn, optim

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 1))
maker_steps, critic_steps = optim.Adam(maker.parameters(), lr=0.001), optim.Adam(critic.parameters(), lr=0.001)
for _ in range(4):
    for _ in range(5):
        critic_steps.zero_grad()
        critic(3 + torch.randn(16, 2)).mean().neg().backward()
        critic(maker(torch.randn(16, 3))).mean().backward()
        critic_steps.step()
    maker_steps.zero_grad()
    fooled = critic(maker(torch.randn(16, 3)))
    fooled.mean().neg().backward()
    maker_steps.step()
