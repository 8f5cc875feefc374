import microtape as mt

# Goes on after the data are separated: from there the hinge loss and its gradients are zero.
x = mt.tensor([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, 0.5]])
y = mt.tensor([1.0, 1.0, -1.0, -1.0])
w = mt.zeros(2, requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)

for epoch in range(12):
    margins = y * (x @ w + b)
    loss = (1 - margins).clamp(min=0).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad = b.grad = None
print(loss.item(), margins.detach())
