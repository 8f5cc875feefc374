import torch
from torch import nn

torch.manual_seed(4)
expert = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
forger = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
expert_steps = torch.optim.Adam(expert.parameters(), lr=1e-3, betas=(0.5, 0.9))
forger_steps = torch.optim.Adam(forger.parameters(), lr=1e-3, betas=(0.5, 0.9))


def roughness(real, fake):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    worth = expert(between)
    (slopes,) = torch.autograd.grad(worth, between, torch.ones_like(worth), create_graph=True)
    return ((slopes.norm(2, dim=1) - 1) ** 2).mean()


for evening in range(3):
    real = torch.randn(16, 3) * 0.3 + 1
    fake = forger(torch.randn(16, 2)).detach()
    loss = expert(fake).mean() - expert(real).mean() + 10 * roughness(real, fake)
    expert_steps.zero_grad()
    loss.backward()
    expert_steps.step()
    forger_steps.zero_grad()
    (-expert(forger(torch.randn(16, 2))).mean()).backward()
    forger_steps.step()
    print(evening, f"{loss.item():.3f}")
