import torch
from torch import nn

torch.manual_seed(5)
STOPS = 8
speed, usual = nn.Linear(3, 4), nn.Linear(3, 4)
arrival = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*speed.parameters(), *usual.parameters(), *arrival.parameters()], lr=0.02)
stops = torch.randn(STOPS, 3)
start, end = torch.randint(0, STOPS, (20,)), torch.randint(0, STOPS, (20,))
lateness = torch.randn(STOPS, 1)

for morning in range(4):
    delay = speed(stops)[start]
    total = usual(stops)
    total = total.index_add(0, end, delay)
    loss = (arrival(total.relu()) - lateness).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(morning, loss.item())
