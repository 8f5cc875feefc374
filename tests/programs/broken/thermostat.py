import microtape as mt

gain = mt.tensor(0.3, requires_grad=True)
offset = mt.tensor(1.0, requires_grad=True)
outside = mt.tensor([5.0, 10.0, 15.0, 20.0])
heating = mt.tensor([8.0, 6.0, 4.0, 2.0])
rate = 0.001

for epoch in range(4):
    guess = gain * outside + offset
    loss = ((guess - heating) ** 2).mean()
    loss.backward()
    gain = gain - rate * gain.grad
    offset = offset - rate * offset.grad
    print(f"{epoch}: {loss.item():.3f}")
