import microtape as mt

W = mt.zeros(2, 2, requires_grad=True)
b = mt.zeros(2, requires_grad=True)
W[0] = mt.tensor([1.0, 0.0])

x = mt.tensor([[0.3, 0.4], [0.5, -0.6]])
loss = ((x @ W + b) - x).square().sum()
loss.backward()
with mt.no_grad():
    W -= 0.1 * W.grad
    b -= 0.1 * b.grad
