import torch
from torch import nn

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, 1))
optimizer = OPTIMIZER(critic.parameters(), lr=1e-3)
for step in range(STEPS):
    real, fake = torch.randn(BATCH, INPUTS) + 1, torch.randn(BATCH, INPUTS)
    share = torch.rand(BATCH, 1)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    slopes = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
    penalty = ((slopes.norm(2, dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
