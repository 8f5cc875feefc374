import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
project, head = nn.Linear(INPUTS, 3 * HIDDEN), nn.Linear(HIDDEN, OUTPUTS)
norm = nn.LayerNorm(HIDDEN)
optimizer = OPTIMIZER([*project.parameters(), *norm.parameters(), *head.parameters()], lr=1e-3)
future = torch.triu(torch.ones(CLASSES, CLASSES), diagonal=1).bool()
for step in range(STEPS):
    q, k, v = project(torch.randn(BATCH, CLASSES, INPUTS)).chunk(3, dim=-1)
    scores = q @ k.transpose(1, 2) / HIDDEN**0.5
    weights = F.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
    loss = F.mse_loss(head(norm(weights @ v + v)).mean(1), torch.randn(BATCH, OUTPUTS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
