import microtape as mt

# A target that no gradient may move, a scale computed off the tape, and a number taken out of it.
w = mt.tensor([2.0, 1.0], requires_grad=True)
x = mt.tensor([1.0, 3.0])

guess = w * x
target = guess.detach() + 1.0
with mt.no_grad():
    scale = 1.0 / guess.abs().max()
size = guess.sum().item()

loss = ((guess - target) ** 2 * scale).sum() / size
loss.backward()
