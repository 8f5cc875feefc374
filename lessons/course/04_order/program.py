import microtape as mt

x = mt.tensor(4.0, requires_grad=True)

a = x * 3
b = a + 1
z = b * a

z.backward()

print("z      =", z.item())
print("x.grad =", x.grad.item())
