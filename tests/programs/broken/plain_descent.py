import microtape as mt

w = mt.tensor([0.0, 0.0], requires_grad=True)
x = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
y = mt.tensor([1.0, 2.0])

for epoch in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad
    w.grad.zero_()
print(w)
