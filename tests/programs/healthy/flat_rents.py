import microtape as mt
from microtape import nn

mt.manual_seed(0)
flats = mt.randn(32, 6)
rents = flats.sum(1, keepdim=True) + 2
estimate = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 1))
optimizer = mt.optim.SGD(estimate.parameters(), lr=0.05)
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(estimate(flats), rents)
    loss.backward()
    optimizer.step()
