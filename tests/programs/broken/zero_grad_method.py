import microtape as mt


class Model:
    def __init__(self):
        self.W = mt.tensor([[0.2], [0.7]], requires_grad=True)
        self.b = mt.zeros(1, requires_grad=True)

    def __call__(self, x):
        return x @ self.W + self.b

    def zero_grad(self):
        for p in (self.W, self.b):
            p.grad = None


model = Model()
x = mt.tensor([[0.3, 0.5], [0.9, 0.1], [0.6, 0.8]])
y = mt.tensor([[1.1], [1.4], [1.9]])
for epoch in range(15):
    model.zero_grad
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (model.W, model.b):
            p -= 0.05 * p.grad
print(loss.item())
