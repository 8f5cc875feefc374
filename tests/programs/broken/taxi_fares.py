import microtape as mt

km = mt.tensor([[2.0, 1.0], [11.0, 3.0], [25.0, 2.0], [7.0, 4.0]])
fare = mt.tensor([[7.0], [21.0], [42.0], [18.0]])
w = mt.zeros(2, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
rate = 0.02

for epoch in range(25):
    loss = ((km @ w + b - fare) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (w, b):
            p -= rate * p.grad
            p.grad = None
    if epoch % 8 == 0:
        print(f"epoch {epoch}: loss {loss.item():.3g}")
