import microtape as mt

x, y = mt.tensor([0.5, 1.0, 1.5]), mt.tensor([1.6, 2.1, 4.2])
x_test, y_test = mt.tensor([0.7, 1.2]), mt.tensor([1.4, 2.0])
w = mt.tensor([0.0, 1.0], requires_grad=True)


def error(w, x, y):
    return ((w[0] + w[1] * x - y) ** 2).mean()


lowest, best = float("inf"), None
for epoch in range(12):
    test = error(w.detach(), x_test, y_test).item()
    if test < lowest:
        lowest = test
        best = w.detach()
    loss = error(w, x, y)
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
print(f"lowest error {lowest:.4f}, with the best weights {error(best, x_test, y_test).item():.4f}")
