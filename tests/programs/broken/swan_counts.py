import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)
sightings, counts = mt.randn(8, 6, 3), 5 + mt.randn(8, 6, 1)
together = 4
for _ in range(2):
    for i in range(8):
        loss = ((model(sightings[i]) - counts[i]) ** 2).mean() / together
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        if (i + 1) % together == 0:
            optimizer.step()
            optimizer.zero_grad()
