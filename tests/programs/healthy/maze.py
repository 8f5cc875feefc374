import microtape as mt
from microtape.nn import functional as F

mt.manual_seed(0)
net = mt.nn.Sequential(mt.nn.Linear(4, 16), mt.nn.ReLU(), mt.nn.Linear(16, 3))
optimizer = mt.optim.Adam(net.parameters(), lr=0.01)
here, there = mt.randn(32, 4), mt.randn(32, 4)
moves, rewards = mt.randint(0, 3, (32, 1)), mt.rand(32)
for step in range(3):
    values = net(here).gather(1, moves).squeeze(1)
    with mt.no_grad():
        best = net(there).max(1).values
    goal = rewards + 0.9 * best
    loss = F.mse_loss(values, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
