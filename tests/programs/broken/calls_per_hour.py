import microtape as mt

hours = mt.tensor([1.0, 3.0, 6.0, 9.0])
calls = mt.tensor([2.0, 9.0, 30.0, 80.0])
w = mt.tensor(0.0, requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)

for epoch in range(8):
    expected = (hours * w + b).exp()
    loss = (expected - calls * (hours * w + b)).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
        w.grad.zero_()
        b.grad.zero_()
    print(f"{epoch}: loss {loss.item():.4g}")
