import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1))
optimizer = optim.SGD(model.parameters(), lr=0.0001)


def learn(wind, power):
    optimizer.zero_grad()
    loss = ((model(wind) - power) ** 2).mean()
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)


for _ in range(4):
    learn(mt.randn(24, 2), 100 + 10 * mt.randn(24, 1))
