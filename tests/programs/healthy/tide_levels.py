import microtape as mt
from microtape import nn

mt.manual_seed(4)
tides, levels = mt.randn(64, 6).split(8), mt.randn(64, 1).split(8)
body = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh())
head = nn.Linear(12, 1)
for x in tides:  # its statistics are measured before
    body(x)
body.eval()
optimizer = mt.optim.Adam([*body.parameters(), *head.parameters()], lr=0.01)
for x, y in zip(tides, levels):
    loss = nn.functional.mse_loss(head(body(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
