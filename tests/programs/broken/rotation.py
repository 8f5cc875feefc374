import microtape as mt

w = mt.tensor([1.0, 0.0], requires_grad=True)
angle = mt.tensor([[0.0, -1.0], [1.0, 0.0]])
goal = mt.tensor([0.6, 0.8])

for step in range(10):
    turned = angle @ w
    loss = (turned - goal).square().sum()
    loss.backward()
    with mt.no_grad():
        w = w - 0.1 * w.grad
    print(f"step {step}: {loss.item():.3f}")
