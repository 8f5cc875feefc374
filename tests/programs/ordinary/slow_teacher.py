import copy

import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, HIDDEN))
slow = copy.deepcopy(online)
for p in slow.parameters():
    p.requires_grad = False
predictor = nn.Linear(HIDDEN, HIDDEN)
optimizer = OPTIMIZER([*online.parameters(), *predictor.parameters()], lr=1e-3)
for step in range(STEPS):
    x = torch.randn(BATCH, INPUTS)
    with torch.no_grad():
        aim = F.normalize(slow(x), dim=1)
    loss = 2 - 2 * (F.normalize(predictor(online(x)), dim=1) * aim).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(slow.parameters(), online.parameters()):
            p.mul_(0.99).add_(0.01 * q)
