import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)


def train(rain, level):
    error = ((model(rain) - level) ** 2).mean()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    error.backward()
    optimizer.step()
    optimizer.zero_grad()
    return error.item()


for _ in range(4):
    train(mt.randn(16, 3), 20 * mt.randn(16, 1))
