import microtape as mt

fields = mt.tensor([[0.2, 0.7, 0.1], [0.9, 0.4, 0.3], [0.5, 0.5, 0.8], [0.1, 0.2, 0.6]])
harvest = mt.tensor([[1.2], [2.0], [2.4], [0.7]])

mt.manual_seed(1)
W1 = (mt.randn(3, 8) * 0.1).requires_grad_()
b1 = mt.full((8,), -2.0, requires_grad=True)
W2 = (mt.randn(8, 1) * 0.1).requires_grad_()
b2 = mt.zeros(1, requires_grad=True)

for epoch in range(20):
    hidden = (fields @ W1 + b1).relu()
    loss = ((hidden @ W2 + b2 - harvest) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2, b2):
            p -= 0.1 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
