import microtape as mt

x = mt.tensor(7.0, requires_grad=True)

cube = x**3

(slope,) = mt.autograd.grad(cube, x, create_graph=True)
print("slope  =", slope.item())

slope.backward()
print("x.grad =", x.grad.item())
