import torch
from torch import nn

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
optimizer = OPTIMIZER(net.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.rand(BATCH, 1).requires_grad_()
    u = net(x)
    slope = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    bend = torch.autograd.grad(slope, x, torch.ones_like(slope), create_graph=True)[0]
    ends = net(torch.tensor([[0.0], [1.0]]))
    loss = (bend + u).pow(2).mean() + (ends - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
