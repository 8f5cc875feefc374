import microtape as mt

mt.manual_seed(0)
model = mt.nn.Sequential(mt.nn.Linear(8, 16), mt.nn.ReLU(), mt.nn.Linear(16, 1))
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
x, y = mt.randn(32, 8), mt.randint(0, 2, (32, 1)).float()
for epoch in range(3):
    p = model(x).softmax(dim=1)
    loss = mt.nn.functional.mse_loss(p, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
