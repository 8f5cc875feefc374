import torch
from torch import nn

torch.manual_seed(9)
hull = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
speed, fuel = nn.Linear(32, 1), nn.Linear(32, 1)
fast = torch.optim.Adam([*hull.parameters(), *speed.parameters()], lr=1e-2)
frugal = torch.optim.Adam([*hull.parameters(), *fuel.parameters()], lr=1e-2)
trips = torch.randn(80, 5)
knots, litres = trips.sum(1, keepdim=True).tanh(), trips[:, :1].exp()

for crossing in range(20):
    fast.zero_grad()
    late = nn.functional.mse_loss(speed(hull(trips)), knots)
    late.backward()
    fast.step()
    frugal.zero_grad()
    burnt = nn.functional.mse_loss(fuel(hull(trips)), litres)
    burnt.backward()
    frugal.step()
    print(crossing, late.item(), burnt.item())
