import microtape as mt
from microtape import nn, optim

mt.manual_seed(3)
beds = mt.rand(48, 3)
harvest = (beds @ mt.tensor([2.0, -1.0, 0.5])).square().unsqueeze(1)
model = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
adam = optim.Adam(model.parameters(), lr=0.01)


def learn(rows, wanted):
    adam.zero_grad()
    loss = (model(rows) - wanted).square().mean()
    loss.backward()
    adam.step()
    return loss.item()


for week in range(12):
    start = week % 3 * 16
    error = learn(beds[start : start + 16], harvest[start : start + 16])
    adam.step()  # next week
    print(week, error)
