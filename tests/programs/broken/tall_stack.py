import microtape as mt


class Block:
    def __init__(self, width, k):
        self.W = (mt.arange(width * width) * 0.9 + k).cos().abs().reshape(width, width).requires_grad_()

    def __call__(self, h):
        W = self.W
        h = h + 3.0 * (h @ W).relu()
        return h


blocks = [Block(5, k) for k in range(12)]
x = mt.linspace(0.1, 1.0, 10).reshape(2, 5)
for epoch in range(2):
    h = x
    for block in blocks:
        h = block(h)
    loss = h.mean()
    loss.backward()
    with mt.no_grad():
        for block in blocks:
            block.W -= 1e-22 * block.W.grad
            block.W.grad = None
    print(f"{loss.item():.3g}")
