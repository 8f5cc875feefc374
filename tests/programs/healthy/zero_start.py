import microtape as mt

# The last layer starts at zero, so that the network starts as a constant.
x = mt.linspace(-1.0, 1.0, 10).reshape(5, 2)
y = x.sum(1, keepdim=True).sin()
W1 = (mt.arange(12).sin() * 0.7).reshape(2, 6).requires_grad_()
b1 = mt.zeros(6, requires_grad=True)
W2 = mt.zeros(6, 1, requires_grad=True)
b2 = mt.zeros(1, requires_grad=True)

for epoch in range(12):
    loss = (((x @ W1 + b1).tanh() @ W2 + b2 - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2, b2):
            p -= 0.2 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
