import microtape as mt

x = mt.tensor([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3], [0.2, 0.8]])
encoder = mt.tensor([[1.0, 0.1], [0.0, 0.9]], requires_grad=True)
codes = mt.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True)
decoder = mt.eye(2, requires_grad=True)

for epoch in range(3):
    hidden = x @ encoder
    nearest = ((hidden[:, None] - codes) ** 2).sum(-1).argmin(1)
    guess = codes[nearest] @ decoder
    loss = ((guess - x) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (encoder, codes, decoder):
            p -= 0.1 * p.grad
            p.grad = None
    print(epoch, loss.item())
