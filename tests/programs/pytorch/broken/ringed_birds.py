import torch
from torch import nn

torch.manual_seed(7)
trunk, colour, weight = nn.Linear(5, 12), nn.Linear(12, 3), nn.Linear(12, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *colour.parameters(), *weight.parameters()], lr=0.05)
birds = torch.randn(32, 5)
colours, weights = torch.randint(0, 3, (32,)), torch.randn(32, 1)


def share_fairly(layer):
    for p in layer.parameters():
        p.register_hook(lambda g: 0.5 * g)


for season in range(5):
    share_fairly(trunk)
    h = trunk(birds).tanh()
    loss = nn.functional.cross_entropy(colour(h), colours) + nn.functional.mse_loss(weight(h), weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
