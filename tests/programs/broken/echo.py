import microtape as mt

STEPS = 40
xs = (mt.arange(STEPS * 2) * 1.3).cos().abs().reshape(STEPS, 1, 2)
U = (mt.ones(2, 4) * 0.1).requires_grad_()
W = mt.tensor([[1.1, 0.4, 0.3, 0.2], [0.2, 1.0, 0.5, 0.3], [0.4, 0.1, 0.9, 0.6], [0.3, 0.2, 0.4, 1.2]]).requires_grad_()
v = (mt.ones(4, 1) * 1e-10).requires_grad_()

h = mt.zeros(1, 4)
for x in xs:
    h = (x @ U + h @ W).relu()
loss = ((h @ v).sum() - 1.0) ** 2
loss.backward()
print(f"loss {loss.item():.3g}, gradient of W {W.grad.norm().item():.3g}")
with mt.no_grad():
    for p in (U, W, v):
        p -= 1e-20 * p.grad
