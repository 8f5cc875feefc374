import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(4, 2)
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
x, y = mt.randn(12, 4), mt.randint(0, 2, (12,))
for epoch in range(4):
    delta = mt.nn.Parameter(mt.zeros(12, 4))
    mt.nn.functional.cross_entropy(model(x + delta), y).backward()
    step = 0.1 * delta.grad.sign()
    optimizer.zero_grad()
    mt.nn.functional.cross_entropy(model(x + step), y).backward()
    optimizer.step()
