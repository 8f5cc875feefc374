import microtape as mt
from microtape import nn

mt.manual_seed(7)
trunk, colour, weight = nn.Linear(5, 12), nn.Linear(12, 3), nn.Linear(12, 1)
optimizer = mt.optim.SGD([*trunk.parameters(), *colour.parameters(), *weight.parameters()], lr=0.05)
birds = mt.randn(32, 5)
colours, weights = mt.randint(0, 3, (32,)), mt.randn(32, 1)


def share_fairly(layer):
    for p in layer.parameters():
        p.register_hook(lambda g: 0.5 * g)


for season in range(5):
    share_fairly(trunk)
    h = trunk(birds).tanh()
    loss = nn.functional.cross_entropy(colour(h), colours) + nn.functional.mse_loss(weight(h), weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
