import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1)).half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
prices = torch.randn(32, 16).half() * 0.5
targets = (prices.sum(1, keepdim=True)).half()
for epoch in range(5):
    error = model(prices) - targets
    loss = error.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
