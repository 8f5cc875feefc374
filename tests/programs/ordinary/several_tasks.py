import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION())
heads = nn.ModuleList([nn.Linear(HIDDEN, OUTPUTS), nn.Linear(HIDDEN, CLASSES)])
noise = nn.Parameter(torch.zeros(2))
optimizer = OPTIMIZER([*body.parameters(), *heads.parameters(), noise], lr=1e-3)
for step in range(STEPS):
    h = body(torch.randn(BATCH, INPUTS))
    first = F.mse_loss(heads[0](h), torch.randn(BATCH, OUTPUTS))
    second = F.cross_entropy(heads[1](h), torch.randint(0, CLASSES, (BATCH,)))
    loss = torch.exp(-noise[0]) * first + noise[0] + torch.exp(-noise[1]) * second + noise[1]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
