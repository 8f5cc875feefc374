import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(40, 4)
y = x.prod(1, keepdim=True)
for epoch in range(10):
    for start in range(0, 40, 10):
        loss = nn.functional.mse_loss(model(x[start : start + 10]), y[start : start + 10])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
