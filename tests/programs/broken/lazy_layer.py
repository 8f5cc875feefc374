import microtape as mt
from microtape import nn

mt.manual_seed(5)
wind, power = mt.rand(24, 2), mt.rand(24, 1)
layer = nn.Linear(2, 1)
optimizer = mt.optim.SGD(layer.parameters(), lr=0.1)
for epoch in range(4):
    before = [p.data for p in layer.parameters()]
    optimizer.zero_grad()
    loss = ((layer(wind) - power) ** 2).mean()
    loss.backward()
    optimizer.step()
    learned = any((p != old).any().item() for p, old in zip(layer.parameters(), before))
    print(f"loss {loss.item():.4f}, learned: {learned}")
