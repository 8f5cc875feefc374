import microtape as mt

image = mt.linspace(0.0, 1.0, 12).reshape(3, 2, 2)
gains = mt.ones(3, 1, 1, requires_grad=True)

balanced = image * gains
red = balanced[0]
red *= 0.5
brightness = red.mean()
contrast = (balanced - balanced.mean()).square().mean()
loss = (brightness - 0.3) ** 2 + (contrast - 0.2) ** 2
loss.backward()
with mt.no_grad():
    gains -= 0.1 * gains.grad
