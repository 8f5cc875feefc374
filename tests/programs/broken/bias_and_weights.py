import microtape as mt

x = mt.tensor([[0.2, 0.4], [0.6, 0.1], [0.9, 0.8], [0.3, 0.3]])
y = mt.tensor([[1.4], [1.3], [2.5], [1.4]])
W = mt.zeros(2, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)

for epoch in range(40):
    loss = ((x @ W + b - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
        b -= 0.1 * b.grad
        W.grad = None
    if epoch % 8 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
