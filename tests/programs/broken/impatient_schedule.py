import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
schedule = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.01)
hours, cost = mt.randn(48, 3), mt.randn(48, 1)
for batch in range(12):
    loss = ((model(hours) - cost) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
