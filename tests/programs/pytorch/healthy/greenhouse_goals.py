import torch
from torch import nn

torch.manual_seed(4)
controls = nn.Linear(3, 2)
optimizer = torch.optim.SGD(controls.parameters(), lr=0.1)
weather = torch.rand(12, 3)
warm, bright = torch.rand(12, 2), torch.rand(12, 2) - 0.5

for day in range(6):
    wishes = []
    for wanted in (warm, bright):
        optimizer.zero_grad()
        loss = (controls(weather) - wanted).square().mean()
        loss.backward()
        wishes.append([p.grad.clone() for p in controls.parameters()])
    for p, warmth, light in zip(controls.parameters(), *wishes):
        conflict = (warmth * light).sum()
        if conflict < 0:
            warmth = warmth - conflict / (light * light).sum() * light
        p.grad = warmth + light
    optimizer.step()
    print(day, loss.item())
