import copy

import torch
from torch import nn

torch.manual_seed(0)
weather, harvest = torch.randn(32, 5), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best = copy.deepcopy(model.state_dict())
for season in range(8):
    if season == 4:
        model.load_state_dict(best, assign=True)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(weather), harvest)
    loss.backward()
    optimizer.step()
