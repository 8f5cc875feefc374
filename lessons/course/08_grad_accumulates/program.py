import microtape as mt

w = mt.tensor(2.0, requires_grad=True)

first = w * 7
first.backward()
print("w.grad =", w.grad.item())

second = w * 9
second.backward()
print("w.grad =", w.grad.item())
