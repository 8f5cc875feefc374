import microtape as mt

mt.manual_seed(0)
body, norm, head = mt.nn.Linear(4, 6), mt.nn.BatchNorm1d(6), mt.nn.Linear(6, 2)
model = mt.nn.Sequential(body, norm, head)
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
x, y = mt.randn(12, 4), mt.randint(0, 2, (12,))


def accuracy():
    model.eval()
    with mt.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


for epoch in range(3):
    optimizer.zero_grad()
    loss = mt.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(accuracy())
