import microtape as mt

x = mt.tensor(4.0, requires_grad=True)
y = mt.tensor(6.0, requires_grad=True)

product = x * y
z = product + x

z.backward()

print("x.grad =", x.grad.item())
print("y.grad =", y.grad.item())
