import microtape as mt

mt.manual_seed(0)
x = mt.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = mt.tensor([[0.0], [1.0], [1.0], [0.0]])
W1 = mt.randn(2, 6, requires_grad=True) * 0.1
b1 = mt.zeros(6, requires_grad=True)
W2 = mt.ones(6, 1, requires_grad=True)

for epoch in range(10):
    h = (x @ W1 + b1).tanh()
    loss = ((h @ W2 - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2):
            p -= 0.5 * p.grad
            p.grad.zero_()
