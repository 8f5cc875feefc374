import torch
from torch import nn

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
scale = nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
shift = nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
optimizer = OPTIMIZER([*scale.parameters(), *shift.parameters()], lr=1e-3)
for step in range(STEPS):
    a, b = torch.randn(BATCH, 2).chunk(2, dim=1)
    s = torch.tanh(scale(a))
    z = torch.cat([a, (b - shift(a)) * torch.exp(-s)], dim=1)
    loss = (0.5 * z.pow(2).sum(1) + s.squeeze(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
