import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
cell, head = nn.LSTMCell(INPUTS, HIDDEN), nn.Linear(HIDDEN, OUTPUTS)
optimizer = OPTIMIZER([*cell.parameters(), *head.parameters()], lr=1e-3)
h, c = torch.zeros(BATCH, HIDDEN), torch.zeros(BATCH, HIDDEN)
for chunk in range(STEPS):
    h, c = h.detach(), c.detach()
    loss = 0.0
    for time in range(3):
        h, c = cell(torch.randn(BATCH, INPUTS), (h, c))
        loss = loss + F.mse_loss(head(h), torch.randn(BATCH, OUTPUTS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
