import microtape as mt

mt.manual_seed(3)
net = mt.nn.Sequential(mt.nn.Linear(4, 16), mt.nn.ReLU(), mt.nn.Linear(16, 3))
optimizer = mt.optim.Adam(net.parameters(), lr=0.01)
features, labels = mt.randn(32, 4), mt.randint(0, 3, (32, 1))
others = mt.ones(32, 3).scatter(1, labels, 0.0)
for step in range(3):
    scores = net(features)
    right = scores.gather(1, labels)
    rival = (scores - 10.0 * (1 - others)).max(1, keepdim=True).values
    loss = (1.0 + rival - right).relu().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
