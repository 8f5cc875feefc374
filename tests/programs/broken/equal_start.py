import microtape as mt

mt.manual_seed(0)
net = mt.nn.Sequential(mt.nn.Linear(3, 6), mt.nn.Tanh(), mt.nn.Linear(6, 1))
for layer in (net[0], net[2]):
    mt.nn.init.constant_(layer.weight, 0.1)
    mt.nn.init.zeros_(layer.bias)
x = mt.randn(20, 3)
y = x[:, :1] * x[:, 1:2]
optimizer = mt.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(5):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
