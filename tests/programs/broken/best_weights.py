import microtape as mt

x = mt.tensor([0.5, 1.0, 1.5])
y = mt.tensor([1.0, 2.1, 2.9])
w = mt.tensor([0.0, 1.0], requires_grad=True)
lowest, best = float("inf"), None

for epoch in range(6):
    loss = ((w[0] + w[1] * x - y) ** 2).mean()
    if loss.item() < lowest:
        lowest = loss.item()
        best = w.detach()
    loss.backward()
    with mt.no_grad():
        w -= 0.45 * w.grad
    w.grad = None

again = ((best[0] + best[1] * x - y) ** 2).mean()
print(f"lowest loss {lowest:.4f}, with the best weights {again.item():.4f}")
