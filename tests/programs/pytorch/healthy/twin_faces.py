import torch
from torch import nn

torch.manual_seed(0)
tower = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
criterion = nn.CosineEmbeddingLoss(margin=0.1)
optimizer = torch.optim.Adam(tower.parameters(), lr=0.01)
for step in range(6):
    left = torch.randn(40, 12)
    is_same = torch.rand(40) < 0.5
    right = torch.where(is_same[:, None], left + 0.1 * torch.randn(40, 12), torch.randn(40, 12))
    loss = criterion(tower(left), tower(right), 2 * is_same.long() - 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
