import microtape as mt

mt.manual_seed(1)
scale, shift = mt.ones(2, requires_grad=True), mt.zeros(2, requires_grad=True)
direction, threshold = mt.randn(2, requires_grad=True), mt.zeros(1, requires_grad=True)
forger, expert = [scale, shift], [direction, threshold]


def learn(leaves):
    with mt.no_grad():
        for leaf in leaves:
            leaf -= 0.1 * leaf.grad
    for leaf in leaves:
        leaf.grad = None


for stamp in range(4):
    forged = mt.randn(16, 2) * scale + shift
    noticed = mt.sigmoid(forged @ direction + threshold)
    (-mt.log(1 - noticed)).mean().backward()
    learn(forger)

    genuine, noticed = 2 + mt.randn(16, 2), mt.sigmoid(forged.detach() @ direction + threshold)
    loss = -(mt.log(noticed) + mt.log(1 - mt.sigmoid(genuine @ direction + threshold))).mean()
    loss.backward()
    learn(expert)
