import microtape as mt

signals = mt.tensor([[0.5, 1.0], [-0.8, -0.3], [1.2, -0.1]])
target = mt.tensor([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
W = mt.tensor([[0.6, 0.2], [0.1, 0.5]], requires_grad=True)
b = mt.zeros(2, requires_grad=True)

for epoch in range(4):
    strength = (signals @ W + b).relu()
    share = strength / strength.sum(dim=1, keepdim=True)
    loss = ((share - target) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.1 * p.grad
            p.grad = None
print("loss", loss.item())
