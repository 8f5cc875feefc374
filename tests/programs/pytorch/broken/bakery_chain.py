import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))


torch.manual_seed(0)
orders, loaves = torch.randn(32, 6), torch.randn(32, 1)
recipe = network().state_dict()
shop = network()
optimizer = torch.optim.SGD(shop.parameters(), lr=0.1)
shop.load_state_dict(recipe, assign=True)
for _ in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(shop(orders), loaves)
    loss.backward()
    optimizer.step()
