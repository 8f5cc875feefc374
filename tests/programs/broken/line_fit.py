import microtape as mt

x = mt.tensor([1.0, 2.0, 3.0, 4.0])
y = mt.tensor([3.1, 4.9, 7.2, 9.0])
w = mt.tensor(0.0, requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)

for epoch in range(30):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.02 * w.grad
        b -= 0.02 * b.grad
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {loss.item():.2f}")
