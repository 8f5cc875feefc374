import microtape as mt

x = mt.linspace(0.0, 3.0, 6)
y = x.sin()
centres = mt.tensor([0.0, 0.6, 1.2, 1.8, 2.4, 3.0], requires_grad=True)
heights = mt.full((6,), 0.1, requires_grad=True)

for epoch in range(10):
    bumps = (-((x.unsqueeze(1) - centres) ** 2)).exp()
    guess = bumps @ heights
    spread = (centres.reshape(6, 1) * centres.reshape(1, 6)).mean()
    loss = ((guess - y) ** 2).mean() + 1e-3 * spread
    loss.backward()
    with mt.no_grad():
        for p in (centres, heights):
            p -= 0.1 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
