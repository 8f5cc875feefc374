import torch
from torch import nn, optim

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
maker_steps, critic_steps = optim.Adam(maker.parameters(), lr=0.001), optim.Adam(critic.parameters(), lr=0.001)
judge = nn.BCEWithLogitsLoss()
for _ in range(4):
    made, real = maker(torch.randn(16, 3)), 3 + torch.randn(16, 2)
    critic_steps.zero_grad()
    seen = judge(critic(real), torch.ones(16, 1)) + judge(critic(made.detach()), torch.zeros(16, 1))
    seen.backward()
    critic_steps.step()
    critic_steps.zero_grad()
    fooled = judge(critic(made), torch.ones(16, 1))
    fooled.backward()
    maker_steps.step()
