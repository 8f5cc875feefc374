import microtape as mt

theta = mt.tensor([2.0, -1.5], requires_grad=True)
scale = mt.tensor([1.0, 3.0])


def energy(theta):
    return (scale * theta**2).sum() + theta.cos().sum()


rate = 0.02
for epoch in range(7):
    loss = energy(theta)
    loss.backward()
    with mt.no_grad():
        theta -= rate * theta.grad
    theta.grad = None
    rate = rate / 0.5**epoch
    print(f"epoch {epoch}: loss {loss.item():.3g}")
