import microtape as mt

words = mt.tensor([[1, 2, 0], [2, 0, 0]])
following = mt.tensor([[2, 3, 0], [1, 0, 0]])
real = (following != 0).float()
table = (mt.arange(12).sin() * 0.5).reshape(4, 3).requires_grad_()
W = (mt.arange(12).cos() * 0.5).reshape(3, 4).requires_grad_()

for epoch in range(5):
    log_p = (table[words] @ W).log_softmax(-1)
    losses = -log_p.gather(2, following[..., None]).squeeze(2)
    loss = (losses * real).sum() / real.sum()
    loss.backward()
    with mt.no_grad():
        for p in (table, W):
            p -= 0.5 * p.grad
            p.grad = None
    print(epoch, round(loss.item(), 4))
