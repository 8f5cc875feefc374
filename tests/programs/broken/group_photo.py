import microtape as mt

mt.manual_seed(0)
faces = mt.randn(8, 5, 3)
ages = mt.rand(8, 5, 1)
W = (mt.randn(3, 4) / 2).requires_grad_()
U = (mt.randn(3, 4) / 2).requires_grad_()
v = (mt.randn(3, 1) / 2).requires_grad_()

for step in range(5):
    likeness = (faces @ W).bmm((faces @ U).mT)
    share = likeness.softmax(0)
    guess = share.bmm(faces @ v)
    loss = (guess - ages).pow(2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, U, v):
            p -= 0.1 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
