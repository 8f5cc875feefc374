import microtape as mt

x = mt.tensor(2.0, requires_grad=True)
y = mt.tensor(3.0, requires_grad=True)

z = (x * y) * (x + y)
z.backward()
print(x.grad, y.grad)  # tensor(21.) tensor(16.)
