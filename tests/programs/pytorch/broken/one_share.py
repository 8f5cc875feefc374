import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
for epoch in range(3):
    p = model(x).softmax(dim=1)
    loss = nn.functional.mse_loss(p, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
