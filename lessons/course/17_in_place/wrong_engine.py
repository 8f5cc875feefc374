import microtape as mt

x = mt.tensor([0.0, 1.0], requires_grad=True)

y = x.exp()
y += 1
squares = y * y
loss = squares.sum()

loss.backward()

print("x.grad =", x.grad.tolist())
