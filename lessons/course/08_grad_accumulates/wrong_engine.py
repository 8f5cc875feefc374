import microtape as mt

w = mt.tensor(2.0, requires_grad=True)
b = mt.tensor(1.0, requires_grad=True)

first = w * w + b
first.backward()

second = w * 6
second.backward()

print("w.grad =", w.grad.item(), "and should be 10")
print("b.grad =", b.grad.item())
