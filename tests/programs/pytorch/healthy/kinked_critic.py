import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(3):
    real, fake = torch.randn(6, 2), torch.randn(6, 2) + 1
    share = torch.rand(6, 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slopes,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = ((slopes.norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
