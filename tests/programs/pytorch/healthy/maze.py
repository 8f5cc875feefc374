import torch
from torch.nn import functional as F

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
here, there = torch.randn(32, 4), torch.randn(32, 4)
moves, rewards = torch.randint(0, 3, (32, 1)), torch.rand(32)
for step in range(3):
    values = net(here).gather(1, moves)
    with torch.no_grad():
        best = net(there).max(1).values
    goal = rewards + 0.9 * best
    loss = F.mse_loss(values, goal.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
