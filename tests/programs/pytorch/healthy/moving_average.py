import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2))
average = copy.deepcopy(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
left = torch.cumprod(1 - torch.linspace(0.0001, 0.02, 100), 0)
for _ in range(5):
    clean, time = torch.randn(32, 2), torch.randint(0, 100, (32,))
    noise = torch.randn_like(clean)
    noisy = left[time].sqrt()[:, None] * clean + (1 - left[time]).sqrt()[:, None] * noise
    loss = (model(torch.cat([noisy, time[:, None] / 100], 1)) - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mean, now in zip(average.parameters(), model.parameters()):
            mean.lerp_(now, 0.01)
