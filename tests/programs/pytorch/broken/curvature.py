import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    sharpness = sum(gradient.pow(2).sum() for gradient in gradients)
    loss = loss + 0.1 * sharpness
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
