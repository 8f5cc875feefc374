import microtape as mt

mt.manual_seed(0)
net = mt.nn.Sequential(mt.nn.Linear(3, 6), mt.nn.ReLU(), mt.nn.Linear(6, 1))
for p in net.parameters():
    mt.nn.init.zeros_(p)
x = mt.randn(20, 3)
y = x[:, :1] * 2 + 1
optimizer = mt.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(5):
    optimizer.zero_grad()
    loss = mt.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
