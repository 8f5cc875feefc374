"""How heat spreads along a pipe: the network's slopes by place and time, which `float` has made results."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
points = np.random.default_rng(0).uniform(-1, 1, (20, 2))
place = torch.tensor(points[:, 0:1], requires_grad=True).float()
time = torch.tensor(points[:, 1:2], requires_grad=True).float()
heat = torch.tensor(np.sin(points[:, 0:1])).float()
net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1))
rate = nn.Parameter(torch.tensor(0.0))
optimizer = torch.optim.Adam([*net.parameters(), rate], lr=0.01)


def slope(u, x):
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


for _ in range(4):
    u = net(torch.cat([place, time], 1))
    law = slope(u, time) - rate.exp() * slope(slope(u, place), place)
    loss = (u - heat).square().mean() + law.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
