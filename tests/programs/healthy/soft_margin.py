import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = optim.SGD(model.parameters(), lr=0.5)
side = mt.sign(mt.randn(30, 1))
points = side * mt.tensor([[3.0, 1.0]]) + 0.1 * mt.randn(30, 2)
for _ in range(12):
    loss = (mt.relu(1 - side * model(points)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
