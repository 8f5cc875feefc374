import microtape as mt

mt.manual_seed(0)
x, y = mt.randn(16, 4), mt.randn(16, 1)
W1 = (mt.randn(4, 8) * 0.5).requires_grad_()
W2 = (mt.randn(8, 1) * 0.3).requires_grad_()


def forward(x, training):
    h = (x @ W1).relu()
    if training:
        h = h * (mt.rand(h.shape) < 0.5).float() * 2.0
    return h @ W2


for epoch in range(8):
    loss = ((forward(x, True) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, W2):
            p -= 0.1 * p.grad
            p.grad = None
with mt.no_grad():
    print("without dropout", ((forward(x, False) - y) ** 2).mean().item() > 0)
