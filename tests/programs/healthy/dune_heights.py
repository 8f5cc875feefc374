import microtape as mt
from microtape import nn

mt.manual_seed(0)
winds, heights = mt.randn(64, 6).split(8), mt.randn(64, 1).split(8)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
together = 2


def train_step(number, x, y):
    if number % together == 0:
        optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y) / together
    loss.backward()
    if number % together == 1:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


for number, (x, y) in enumerate(zip(winds, heights)):
    print(number, train_step(number, x, y))
