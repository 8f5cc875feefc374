import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(INPUTS + 1, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, INPUTS))
kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 10), dim=0)
optimizer = OPTIMIZER(net.parameters(), lr=1e-3)
for step in range(STEPS):
    x, noise, time = torch.randn(BATCH, INPUTS), torch.randn(BATCH, INPUTS), torch.randint(0, 10, (BATCH,))
    share = kept[time].unsqueeze(1)
    noisy = share.sqrt() * x + (1 - share).sqrt() * noise
    loss = F.mse_loss(net(torch.cat([noisy, time.float().unsqueeze(1) / 10], dim=1)), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
