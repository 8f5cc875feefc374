import microtape as mt

photo = mt.tensor([[0.5, 0.2, 0.9], [0.1, 0.8, 0.4]])
flipped = photo.flip(1)
encoder = (mt.arange(6).sin() * 0.8).reshape(3, 2).requires_grad_()
predictor = mt.eye(2, requires_grad=True)


def agreement(a, b):
    return (a * b).sum(1) / ((a.square().sum(1) + 1e-8) * (b.square().sum(1) + 1e-8)).sqrt()


for epoch in range(5):
    a, b = photo @ encoder, flipped @ encoder
    loss = -0.5 * (agreement(a @ predictor, b.detach()) + agreement(b @ predictor, a.detach())).mean()
    loss.backward()
    with mt.no_grad():
        for p in (encoder, predictor):
            p -= 0.1 * p.grad
            p.grad = None
print(round(loss.item(), 4))
