import microtape as mt

mt.manual_seed(0)
net = mt.nn.Sequential(mt.nn.Conv2d(1, 3, 3), mt.nn.BatchNorm2d(3), mt.nn.Flatten(), mt.nn.Linear(48, 1))
optimizer = mt.optim.Adam(net.parameters(), lr=0.01)
x, y, best = mt.randn(6, 1, 6, 6), mt.randn(6, 1), 1e9
net.train()
for epoch in range(3):
    optimizer.zero_grad()
    mt.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    net.eval()
    with mt.no_grad():
        best = min(best, mt.nn.functional.mse_loss(net(x), y).item())
print(best)
