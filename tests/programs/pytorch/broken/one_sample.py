import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh())
head = nn.Linear(8, 1)
data = TensorDataset(torch.randn(9, 3), torch.randn(9, 1))
for x, y in DataLoader(data, batch_size=4):
    h = model(x)
    h = (h - h.mean(0)) / (h.std(0) + 1e-5)
    loss = nn.functional.mse_loss(head(h), y)
    loss.backward()
    for p in [*model.parameters(), *head.parameters()]:
        p.grad = None
