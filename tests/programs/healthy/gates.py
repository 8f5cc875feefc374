import microtape as mt

table = mt.tensor([[0.5, 1.0, 0.2, 0.9], [0.1, 0.4, 0.8, 0.3]])
W = (mt.arange(32).sin() * 0.5).reshape(4, 8).requires_grad_()
b = mt.zeros(8, requires_grad=True)

for epoch in range(4):
    passed, gate, _, kept = (table @ W + b).chunk(4, dim=1)
    out = passed.tanh() * gate.sigmoid() + kept
    loss = (out - 0.5).square().mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.5 * p.grad
            p.grad = None
    print(epoch, round(loss.item(), 4))
