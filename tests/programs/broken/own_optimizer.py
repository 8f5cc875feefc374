import microtape as mt


class Curve:
    rate = 0.01

    def __init__(self):
        self.a = mt.tensor(0.5, requires_grad=True)
        self.b = mt.tensor(0.1, requires_grad=True)

    def __call__(self, x):
        return self.a * x + self.b * x**2

    def step(self):
        for name in ("a", "b"):
            p = getattr(self, name)
            setattr(self, name, p - self.rate * p.grad)


curve = Curve()
x = mt.tensor([0.5, 1.0, 2.0])
y = mt.tensor([1.1, 2.8, 8.1])
for epoch in range(5):
    loss = ((curve(x) - y) ** 2).mean()
    loss.backward()
    curve.step()
    print(epoch, loss.item())
