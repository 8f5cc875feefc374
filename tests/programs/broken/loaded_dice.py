import microtape as mt

seen = mt.tensor([3.0, 5.0, 0.0, 4.0, 6.0, 1.0])
p = mt.tensor([0.2, 0.2, 0.2, 0.2, 0.2, 0.0], requires_grad=True)
rate = 1e-3

for throw in range(4):
    loss = -(seen * (p + 1e-10).log()).sum() / seen.sum()
    loss.backward()
    with mt.no_grad():
        p -= rate * p.grad
        p.clamp_(0)
        p /= p.sum()
        p.grad = None
    print(throw, loss.item(), p.tolist())
