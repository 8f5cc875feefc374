import microtape as mt

x = mt.linspace(-1.0, 1.0, 8).reshape(4, 2)
y = mt.tensor([[0.1], [0.7], [0.4], [0.2]])
W = mt.tensor([[0.5, -0.25, 0.3], [0.4, 0.65, -0.7]], requires_grad=True)
b = mt.zeros(3, requires_grad=True)
v = mt.ones(3, 1, requires_grad=True)

for epoch in range(5):
    h = x @ W
    h += b
    h.relu_()
    out = h @ v
    out *= 0.5
    out[0] = 0.1
    loss = (out - y).square_().mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, b, v):
            p.sub_(0.2 * p.grad)
            p.grad.zero_()
    print(epoch, round(loss.item(), 4))
