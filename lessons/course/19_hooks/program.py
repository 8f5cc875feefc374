import microtape as mt


def clip(gradient):
    return gradient.clamp(max=10)


w = mt.tensor([1.5, 4.0], requires_grad=True)

hidden = w * 3
hidden.register_hook(clip)

squares = hidden * hidden
loss = squares.sum()

loss.backward()

print("w.grad =", w.grad.tolist())
