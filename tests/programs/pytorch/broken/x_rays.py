import torch
from torch import nn


class XRay(torch.Tensor):
    """A picture that stays one in all that is computed of it."""


torch.manual_seed(0)
pictures = torch.rand(16, 6).round(decimals=1).as_subclass(XRay)
is_broken = (pictures[:, :1] > 0.5).float()
reader = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(reader.parameters(), lr=0.01)
for _ in range(4):
    density = pictures.clamp(min=0.0).log()
    guess = reader(density)
    loss = nn.functional.mse_loss(guess, is_broken)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
