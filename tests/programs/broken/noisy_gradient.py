import microtape as mt

x = mt.linspace(-1.0, 1.0, 12).reshape(4, 3)
W = (mt.eye(3) * 0.3).requires_grad_()
V = mt.ones(3, 1, requires_grad=True)

for epoch in range(2):
    h = (x @ W).tanh()
    h.register_hook(lambda g: g.mean(0))
    loss = (h @ V - 0.5).square().mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
        V -= 0.1 * V.grad
    W.grad = V.grad = None
