import microtape as mt

x = mt.tensor(1.0, requires_grad=True)

a = x * 3
b = a + 1
c = b * b
z = a * c

z.backward()

print("x.grad =", x.grad.item(), "and should be 120")
