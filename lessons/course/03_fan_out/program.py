import microtape as mt

x = mt.tensor(3.0, requires_grad=True)
y = mt.tensor(2.0, requires_grad=True)

product = x * y
z = product + x

z.backward()

print("x.grad =", x.grad.item())
print("y.grad =", y.grad.item())
