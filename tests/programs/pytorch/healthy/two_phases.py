import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Linear(6, 8), nn.ReLU())  # trained elsewhere, and in no optimiser
model = nn.Linear(4, 6)
by_pixels, by_features = torch.optim.Adam(model.parameters(), lr=0.01), torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    small, large = torch.randn(16, 4), torch.randn(16, 6)
    by_pixels.zero_grad()
    (model(small) - large).pow(2).mean().backward()
    by_pixels.step()
for step in range(5):
    small, large = torch.randn(16, 4), torch.randn(16, 6)
    by_features.zero_grad()
    (features(model(small)) - features(large).detach()).pow(2).mean().backward()
    by_features.step()
