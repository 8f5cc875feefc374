import torch
from torch import nn

torch.manual_seed(0)
size, lengths = 8, torch.tensor([6, 4, 2, 5])
diary = torch.randn(4, 6, size)
is_written = torch.arange(6) < lengths[:, None]
price = (diary[:, :, 0] * is_written).sum(1, keepdim=True)
rate, head = nn.Linear(size, 1), nn.Linear(size, 1)
optimizer = torch.optim.Adam([*rate.parameters(), *head.parameters()], lr=0.01)
for week in range(4):
    scores = rate(diary).squeeze(-1)
    scores = torch.where(is_written, scores, 0.0)
    weights = scores.softmax(dim=1)
    summary = (weights.unsqueeze(-1) * diary).sum(1)
    loss = nn.functional.mse_loss(head(summary), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
