import microtape as mt

x = mt.tensor([1.0, 2.0], requires_grad=True)

y = x * 3
y += 1

squares = y * y
loss = squares.sum()

loss.backward()

print("y was written to", y._version, "time")
print("x.grad =", x.grad.tolist())
