import microtape as mt
from microtape import nn

mt.manual_seed(4)
depths, currents = mt.randn(64, 6).split(8), mt.randn(64, 1).split(8)
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)


def learn(x, y):
    model.eval()
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for epoch in range(2):
    for x, y in zip(depths, currents):
        print(epoch, learn(x, y))
