import microtape as mt

x = mt.tensor([0.0, 1.0, 2.0, 3.0])
y = mt.tensor([1.0, 2.7, 7.4, 20.1])
w = mt.tensor(0.8, requires_grad=True)


def report(epoch, loss):
    (steepness,) = mt.autograd.grad(loss, w)
    print(f"{epoch}: loss {loss.item():.3f}, slope {steepness.item():.3f}")


for epoch in range(5):
    loss = ((w * x).exp() - y).square().mean()
    report(epoch, loss)
    loss.backward()
    with mt.no_grad():
        w -= 1e-4 * w.grad
    w.grad = None
