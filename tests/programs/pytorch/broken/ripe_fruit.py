import torch
from torch import nn

torch.manual_seed(0)
sorter = nn.Sequential(
    nn.Linear(6, 16),
    nn.Tanh(),
    nn.Linear(16, 1),
    nn.ReLU(),
)
fruit = torch.randn(40, 6)
is_ripe = (fruit[:, :1] - fruit[:, 1:2] > 0).float()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(sorter.parameters(), lr=0.1)
for day in range(4):
    guess = sorter(fruit)
    loss = criterion(guess, is_ripe)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
