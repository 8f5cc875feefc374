import microtape as mt

x = mt.tensor(5.0, requires_grad=True)

shared = x * x
first = shared * 3
second = shared * 5

first.backward(retain_graph=True)
print("x.grad =", x.grad.item())

second.backward()
print("x.grad =", x.grad.item())
