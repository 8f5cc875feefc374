import microtape as mt


class Attention:
    def __init__(self, size):
        grid = mt.arange(size * size).reshape(size, size)
        self.query = (grid.sin() * 0.5).requires_grad_()
        self.key = (grid.cos() * 0.5).requires_grad_()
        self.value = ((grid * 2.0).sin() * 0.5).requires_grad_()

    def __call__(self, words):
        q, k, v = words @ self.query, words @ self.key, words @ self.value
        weights = (q @ k.t() / 2.0).exp()
        weights /= weights.sum(dim=-1, keepdim=True)
        return weights @ v

    def parameters(self):
        return [self.query, self.key, self.value]


words = mt.linspace(-1.0, 1.0, 12).reshape(3, 4)
model = Attention(4)
for epoch in range(5):
    loss = ((model(words) - words) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
print(loss.item())
