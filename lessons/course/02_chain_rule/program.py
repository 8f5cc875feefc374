import microtape as mt

x = mt.tensor(7.0, requires_grad=True)

u = x * 2
v = u**2
z = v / 4

z.backward()

print("z      =", z.item())
print("x.grad =", x.grad.item())
