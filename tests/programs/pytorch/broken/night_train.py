import torch
from torch import nn
from torch.optim import AdamW

torch.manual_seed(6)
stations = nn.Embedding(12, 8)
head = nn.Linear(16, 1)
trips = torch.randint(0, 12, (64, 2))
hours = (trips[:, 0] - trips[:, 1]).abs().float().unsqueeze(1) / 4


def epoch(rows, wanted):
    losses = []
    for row, hour in zip(rows.split(16), wanted.split(16)):
        optimizer = AdamW([*stations.parameters(), *head.parameters()], lr=1e-2)
        optimizer.zero_grad()
        guess = head(stations(row).flatten(1))
        loss = nn.functional.smooth_l1_loss(guess, hour)
        loss.backward()
        with torch.no_grad():
            optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


for night in range(5):
    print(night, epoch(trips, hours))
