import microtape as mt

x = mt.tensor([1.0, 2.0, 3.0])
y = mt.tensor([2.0, 4.0, 6.0])
w = mt.tensor(0.5, requires_grad=True)
rate = 0.08

for epoch in range(10):
    loss = ((w * x - y) ** 2).mean() + 1e-3 * w.square()
    w.grad = None
    loss.backward()
    w.data.add_(w.grad, alpha=-rate)
    rate *= 0.8
print(round(w.item(), 3))
