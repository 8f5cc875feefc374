import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = optim.SGD(model.parameters(), lr=0.01)
x, y = mt.randn(16, 3), mt.randn(16, 1)
carefully = False
for _ in range(4):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    if not carefully:
        loss.backward()
        optimizer.step()
    else:
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
