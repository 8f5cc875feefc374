import microtape as mt

x = mt.tensor([[0.3, 0.5], [0.8, 0.1], [0.6, 0.9]])
y = mt.tensor([[0.4], [0.5], [0.8]])
W = mt.tensor([[0.1], [0.1]], requires_grad=True)
b = mt.zeros(1, requires_grad=True)

total = 0.0
for epoch in range(20):
    guess = x @ W + b
    loss = ((guess - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.5 * p.grad
            p.grad = None
    total += loss
    if epoch % 5 == 4:
        print(f"average loss so far {total / (epoch + 1):.4f}")
