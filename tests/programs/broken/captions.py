import microtape as mt

words = mt.tensor([[4, 1, 2], [3, 2, 1]])
following = mt.tensor([[1, 2, 3], [2, 1, 4]])
padding = (following == 0).float()
table = (mt.arange(10).sin() * 0.5).reshape(5, 2).requires_grad_()
W = (mt.arange(10).cos() * 0.5).reshape(2, 5).requires_grad_()


def masked_mean(losses):
    return (losses * padding).sum() / losses.numel()


for epoch in range(5):
    scores = table[words] @ W
    log_p = scores.log_softmax(dim=-1)
    losses = -log_p.gather(2, following[..., None]).squeeze(2)
    loss = masked_mean(losses)
    loss.backward()
    with mt.no_grad():
        for p in (table, W):
            p -= 0.5 * p.grad
            p.grad = None
    print(epoch, loss.item())
