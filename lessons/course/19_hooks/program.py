import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)

hidden = w * 3
hidden.register_hook(lambda gradient: gradient.clamp(max=10))

squares = hidden * hidden
loss = squares.sum()

loss.backward()

print("w.grad =", w.grad.tolist())
