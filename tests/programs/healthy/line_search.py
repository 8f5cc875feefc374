import microtape as mt

goal = mt.tensor([1.0, -2.0])
stretch = mt.tensor([1.0, 10.0])
w = mt.tensor([3.0, 2.0], requires_grad=True)


def energy(w):
    return (stretch * (w - goal) ** 2).sum()


for step in range(8):
    loss = energy(w)
    loss.backward()
    with mt.no_grad():
        rate = 1.0
        while energy(w - rate * w.grad) > loss - 0.5 * rate * w.grad.square().sum():
            rate /= 2
        w -= rate * w.grad
    w.grad = None
    print(f"step {step}: loss {loss.item():.4f}, rate {rate}")
