import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
x = torch.randn(50, 10)
y = x.sum(1, keepdim=True)
for epoch in range(30):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
