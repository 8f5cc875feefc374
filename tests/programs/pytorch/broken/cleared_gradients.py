import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0)
x = torch.randn(30, 3)
y = x.sin().sum(1, keepdim=True)
for epoch in range(10):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    print(epoch, loss.item())
