import microtape as mt
from microtape import nn

mt.manual_seed(0)
bikes = mt.randn(36, 5)
breaks = (bikes[:, :1] + 0.5 * mt.randn(36, 1) > 0.8).float()
costs = 1 + 4 * mt.rand(36)
garage = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
criterion = nn.BCEWithLogitsLoss(reduction="none")
optimizer = mt.optim.Adam(garage.parameters(), lr=0.01)
for epoch in range(3):
    for first in range(0, 36, 12):
        batch = slice(first, first + 12)
        losses = criterion(garage(bikes[batch]), breaks[batch])
        loss = (costs[batch] * losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
