import microtape as mt

mt.manual_seed(1)
slope = mt.tensor([0.0, 0.0], requires_grad=True)
for task in range(3):
    target = mt.tensor([1.0, -1.0]) + 0.1 * mt.randn(2)
    x = mt.randn(16, 2)
    start = slope.detach()
    for step in range(4):
        loss = ((x @ slope - x @ target) ** 2).mean()
        loss.backward()
        with mt.no_grad():
            slope -= 0.1 * slope.grad
        slope.grad = None
    with mt.no_grad():
        slope.copy_(start + 0.5 * (slope - start))
    print(f"loss {loss.item():.4f}, slope {slope.tolist()}")
