import microtape as mt

mt.manual_seed(0)
heat = mt.tensor([[0.5], [1.0], [2.0], [40.0]])
closed = mt.tensor([[0.0], [1.0], [0.0], [0.0]])
w = mt.tensor([[1.0]], requires_grad=True)
b = mt.zeros(1, requires_grad=True)


def surprise(p, y):
    p = mt.clamp(p, 1e-9, 1 - 1e-9)
    return -(y * mt.log(p) + (1 - y) * mt.log(1 - p)).mean()


optimizer = mt.optim.SGD([w, b], lr=0.01)
for _ in range(3):
    loss = surprise((heat @ w + b).sigmoid(), closed)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
