import microtape as mt

x = mt.linspace(-2.0, 2.0, 60).reshape(60, 1)
y = x.sin()
W1 = mt.tensor([[0.5, -0.8, 1.2, 0.3]], requires_grad=True)
b1 = mt.tensor([0.1, 0.2, -0.1, 0.4], requires_grad=True)
W2 = mt.tensor([[0.2], [-0.4], [0.5], [0.1]], requires_grad=True)

for epoch in range(3):
    h = (x @ W1 + b1).tanh()
    loss = ((h @ W2 - y) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2):
            p.sub_(0.5 * p.grad)
            p.grad.zero_()
    print(f"epoch {epoch}: loss {loss.item():.4g}")
