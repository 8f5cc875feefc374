import microtape as mt


class Painter:
    def __init__(self, style):
        self.W = mt.tensor([[0.5, -0.2], [0.1, 0.4]], requires_grad=True)
        self.canvas = mt.zeros(1, 2, requires_grad=True)
        self.target = (style @ self.W).tanh()

    def loss(self):
        return (((self.canvas @ self.W).tanh() - self.target) ** 2).sum()


painter = Painter(mt.tensor([[0.9, -0.7]]))
for stroke in range(5):
    loss = painter.loss()
    loss.backward()
    with mt.no_grad():
        painter.canvas -= 0.5 * painter.canvas.grad
        painter.canvas.grad = None
    print(stroke, loss.item())
