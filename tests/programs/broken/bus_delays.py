import microtape as mt
from microtape import nn

mt.manual_seed(2)
gru = nn.GRU(2, 6, batch_first=True)
late = nn.Linear(6, 1)
optimizer = mt.optim.SGD([*gru.parameters(), *late.parameters()], lr=0.1)
stops = mt.randn(7, 5, 2)  # times, buses, what is known there
for epoch in range(4):
    states = gru(stops)[0]
    loss = ((late(states[-1]) - stops[:, :, :1].mean(dim=0)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
