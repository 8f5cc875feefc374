import microtape as mt

gates = [mt.tensor(-2.0 - 0.1 * k, requires_grad=True) for k in range(15)]
source = mt.tensor([0.5, 1.0, 1.5], requires_grad=True)
heard = mt.tensor([0.4, 0.9, 1.1])


def gate(g):
    return g.sigmoid()


for epoch in range(5):
    signal = source * 1.0
    for g in gates:
        signal = signal * gate(g)
    loss = ((signal - heard) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        source -= 0.1 * source.grad
        for g in gates:
            g -= 0.1 * g.grad
            g.grad = None
    source.grad = None
    print(loss.item())
