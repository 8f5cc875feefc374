import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
first, second = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, OUTPUTS)
parameters = [*first.parameters(), *second.parameters()]
optimizer = OPTIMIZER(parameters, lr=1e-3)


def predicted(p, x):
    return F.linear(torch.tanh(F.linear(x, p[0], p[1])), p[2], p[3])


for step in range(STEPS):
    loss = 0.0
    for task in range(2):
        inner = F.mse_loss(predicted(parameters, torch.randn(BATCH, INPUTS)), torch.randn(BATCH, OUTPUTS))
        gradients = torch.autograd.grad(inner, parameters, create_graph=True)
        adapted = [p - 0.1 * g for p, g in zip(parameters, gradients)]
        loss = loss + F.mse_loss(predicted(adapted, torch.randn(BATCH, INPUTS)), torch.randn(BATCH, OUTPUTS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
