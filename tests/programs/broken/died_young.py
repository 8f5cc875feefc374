import microtape as mt

mt.manual_seed(1)
net = mt.nn.Sequential(mt.nn.Linear(3, 8), mt.nn.ReLU(), mt.nn.Linear(8, 1))
optimizer = mt.optim.SGD(net.parameters(), lr=0.5)
x, y = mt.rand(16, 3) * 5, mt.rand(16, 1)
for epoch in range(12):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
