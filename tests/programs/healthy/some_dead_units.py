import microtape as mt

x = mt.tensor([[0.2, 0.7], [0.9, 0.4], [0.5, 0.1]])
y = mt.tensor([[1.0], [0.2], [0.6]])
W1 = mt.tensor([[0.5, -0.9, 0.3, -0.2], [0.4, -0.8, -0.5, -0.6]], requires_grad=True)
b1 = mt.zeros(4, requires_grad=True)
W2 = mt.tensor([[0.6], [0.5], [-0.4], [0.7]], requires_grad=True)

for epoch in range(10):
    h = (x @ W1 + b1).relu()
    loss = ((h @ W2 - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2):
            p -= 0.1 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}, active {(h > 0).float().mean().item():.2f}")
