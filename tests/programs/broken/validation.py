import microtape as mt

mt.manual_seed(3)
W1 = mt.randn(2, 5, requires_grad=True)
W2 = mt.randn(5, 1, requires_grad=True)
x = mt.tensor([[0.1, 0.2], [0.4, 0.3], [0.9, 0.5]])
y = mt.tensor([[0.3], [0.7], [1.4]])


def predict(x):
    with mt.no_grad():
        return (x @ W1).relu() @ W2


for epoch in range(5):
    loss = ((predict(x) - y) ** 2).mean()
    loss.backward()
    for p in (W1, W2):
        p.data -= 0.05 * p.grad
        p.grad = None
