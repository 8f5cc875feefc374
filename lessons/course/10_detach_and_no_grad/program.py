import microtape as mt

w = mt.tensor(3.0, requires_grad=True)

guess = w * 4
square = w * w
target = square.detach()

gap = guess - target
loss = gap * gap

loss.backward()

print("guess, target =", guess.item(), target.item())
print("w.grad        =", w.grad.item())
