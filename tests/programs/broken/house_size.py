import microtape as mt

size = mt.tensor([[50.0], [80.0], [120.0], [65.0]])
price = mt.tensor([[150.0], [240.0], [360.0], [195.0]])
w = mt.tensor([[1.0]], requires_grad=True)
b = mt.tensor([0.5], requires_grad=True)
rate = 1e-3

for epoch in range(4):
    loss = ((size @ w + b - price) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (w, b):
            p -= rate * p.grad
            p.grad = None
    print(f"epoch {epoch}: loss {loss.item():.4g}")
