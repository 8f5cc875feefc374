import microtape as mt

mt.manual_seed(0)
net = mt.nn.Sequential(mt.nn.Linear(1, 8), mt.nn.ReLU(), mt.nn.Linear(8, 1))
optimizer = mt.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    t = mt.rand(10, 1, requires_grad=True)
    height = net(t)
    (speed,) = mt.autograd.grad(height.sum(), t, create_graph=True)
    (pull,) = mt.autograd.grad(speed.sum(), t, create_graph=True)
    loss = (pull + 9.81).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
