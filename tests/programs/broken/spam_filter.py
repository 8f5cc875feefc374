import microtape as mt

counts = mt.tensor([[0.0, 1.0], [40.0, 2.0], [35.0, 9.0], [1.0, 0.0]])
y = mt.tensor([0.0, 1.0, 1.0, 0.0])
w = mt.tensor([1.0, 0.5], requires_grad=True)
bias = mt.tensor(0.0, requires_grad=True)

for epoch in range(3):
    p = (counts @ w + bias).sigmoid()
    loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
        bias -= 0.1 * bias.grad
        w.grad, bias.grad = None, None
    print(f"epoch {epoch}: loss {loss.item()}")
