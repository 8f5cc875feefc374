import microtape as mt

x = mt.tensor([[0.5, 0.2, 0.9], [0.1, 0.8, 0.4]])
W = mt.tensor([[0.9, 0.1, 0.0], [0.1, 0.8, 0.2], [0.0, 0.2, 0.7]], requires_grad=True)
V = (mt.eye(3) * 0.6).requires_grad_()


def corrupt(codes):
    noisy = codes.view(-1, 3)
    noisy[:, 1] = 0.0
    return noisy


for epoch in range(5):
    codes = x @ W
    repaired = corrupt(codes) @ V
    loss = ((repaired - codes) ** 2).mean() + ((codes - x) ** 2).mean()
    loss.backward()
    for p in (W, V):
        p.data -= 0.1 * p.grad
        p.grad = None
    print(epoch, round(loss.item(), 4))
