import microtape as mt

x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)

y = x * 2
window = y[1:]
window *= 7

loss = y.sum()

loss.backward()

print("y      =", y.tolist())
print("x.grad =", x.grad.tolist())
