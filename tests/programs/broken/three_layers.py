import microtape as mt

x = mt.linspace(-1.0, 1.0, 6).reshape(2, 3)
y = mt.tensor([[0.5], [-0.5]])
layers = [(mt.eye(3) * scale).requires_grad_() for scale in (0.9, 0.7, 0.5)]
head = mt.ones(3, 1, requires_grad=True)


def forward(x):
    h = x
    for W in layers[:-1]:
        h = (h @ W).tanh()
    return h @ head


for epoch in range(4):
    loss = ((forward(x) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for W in (*layers, head):
            W -= 0.1 * W.grad
            W.grad = None
