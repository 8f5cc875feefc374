import microtape as mt

x = mt.tensor(3.0, requires_grad=True)
y = mt.tensor(2.0, requires_grad=True)

u = x * y
v = u + y
z = u * v

z.backward()

print("x.grad =", x.grad.item(), "and should be 28")
print("y.grad =", y.grad.item(), "and should be 48")
