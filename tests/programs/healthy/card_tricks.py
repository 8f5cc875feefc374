import microtape as mt

nn = mt.nn
mt.manual_seed(0)
hands = mt.randn(8, 9, 64)
played = mt.randn(8, 9, 64)
asking, showing, telling = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
parts = nn.ModuleList([asking, showing, telling])
optimizer = mt.optim.Adam(parts.parameters(), lr=0.001)
for trick in range(4):
    q, k, v = asking(hands), showing(hands), telling(hands)
    scores = q @ k.transpose(-2, -1) / 64**0.5
    weights = scores.softmax(dim=-1)
    loss = ((weights @ v - played) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
