import microtape as mt

w = mt.tensor([2.0, 5.0], requires_grad=True)

hidden = w * 3
squares = hidden * hidden
loss = squares.sum()

loss.backward()

print("w.grad =", w.grad.tolist())
print("hidden is a leaf:", hidden.is_leaf)
