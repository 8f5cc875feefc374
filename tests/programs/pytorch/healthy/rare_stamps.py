import torch
from torch import nn

torch.manual_seed(0)
stamps = torch.randn(24, 1, 4, 4)
is_rare = (stamps.mean(dim=(1, 2, 3)) > 0).long()
layers, channels = [], 1
for wider in (6, 12):
    layers += [nn.Conv2d(channels, wider, 4, stride=2, padding=1), nn.GroupNorm(3, wider), nn.ReLU()]
    channels = wider
body, head = nn.Sequential(*layers), nn.Linear(12, 2)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
for epoch in range(4):
    optimizer.zero_grad()
    features = body(stamps)
    loss = nn.functional.cross_entropy(head(features.flatten(1)), is_rare)
    loss.backward()
    optimizer.step()
