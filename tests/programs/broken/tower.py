import microtape as mt


def layer(rows, columns, seed):
    wild = (mt.arange(rows * columns) * 7.3 + seed).sin() * 0.02
    return wild.reshape(rows, columns).requires_grad_(), mt.zeros(columns, requires_grad=True)


class Tower:
    def __init__(self, depth, width):
        self.layers = [layer(width, width, seed) for seed in range(depth)]

    def __call__(self, x):
        for W, b in self.layers:
            x = (x @ W + b).tanh()
        return x


tower = Tower(12, 6)
x = mt.linspace(-2.0, 2.0, 12).reshape(2, 6)
y = mt.tensor([[1.0], [-1.0]])
for epoch in range(3):
    loss = ((tower(x).sum(1, keepdim=True) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in [p for pair in tower.layers for p in pair]:
            p -= 0.1 * p.grad
            p.grad = None
    print(epoch, loss.item())
