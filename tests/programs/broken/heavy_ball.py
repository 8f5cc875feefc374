import microtape as mt

x = mt.tensor([1.0, 2.0, 3.0])
y = mt.tensor([1.1, 3.9, 9.2])
w = mt.tensor([0.5, 0.5], requires_grad=True)
velocity = mt.zeros(2)

for epoch in range(8):
    loss = ((w[0] * x + w[1] * x**2 - y) ** 2).mean()
    (slope,) = mt.autograd.grad(loss, w, create_graph=True)
    velocity = 0.8 * velocity + slope
    w.data -= 0.005 * velocity
    print(f"{epoch}: {loss.item():.3f}")
