import microtape as mt

mt.manual_seed(0)
W1 = mt.full((3, 5), 0.2, requires_grad=True)
W2 = mt.full((5, 1), 0.2, requires_grad=True)
x = mt.rand(10, 3)
y = x[:, :1] - x[:, 1:2]
for epoch in range(4):
    hidden = (x @ W1).tanh()
    loss = (hidden @ W2 - y).square().mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, W2):
            p -= 0.1 * p.grad
            p.grad = None
