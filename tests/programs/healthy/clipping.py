import microtape as mt

STEPS = 12
x = (mt.arange(STEPS) * 0.9).sin()
w = mt.tensor(1.2, requires_grad=True)
u = mt.tensor(0.5, requires_grad=True)

for epoch in range(6):
    h = mt.tensor(0.0)
    for t in range(STEPS):
        h = (w * h + u * x[t]).tanh()
    loss = (h - 0.8) ** 2
    loss.backward()
    norm = sum(p.grad.square().sum() for p in (w, u)).sqrt()
    scale = min(1.0, 0.1 / (norm.item() + 1e-6))
    with mt.no_grad():
        for p in (w, u):
            p -= 0.5 * scale * p.grad
            p.grad = None
    print(f"loss {loss.item():.4f}, norm {norm.item():.3f}")
