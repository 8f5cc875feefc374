import microtape as mt
from microtape import nn

mt.manual_seed(4)
gears = nn.Sequential(nn.Linear(2, 6), *[nn.Linear(6, 6), nn.Tanh()] * 3, nn.Linear(6, 1))
optimizer = mt.optim.SGD(gears.parameters(), lr=0.05)
for step in range(4):
    speed = mt.randn(12, 2)
    loss = ((gears(speed) - speed.sum(dim=1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
