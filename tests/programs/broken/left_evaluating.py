import microtape as mt

mt.manual_seed(0)
model = mt.nn.Sequential(mt.nn.Linear(4, 8), mt.nn.BatchNorm1d(8), mt.nn.ReLU(), mt.nn.Linear(8, 1))
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
x, y = mt.randn(16, 4), mt.randn(16, 1)
model.train()
for epoch in range(3):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
    model.eval()
    with mt.no_grad():
        print((model(x) - y).abs().mean().item())
