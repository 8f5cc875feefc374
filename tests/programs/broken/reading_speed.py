import microtape as mt

words = [120.0, 180.0, 150.0, 210.0, 160.0, 190.0]
minutes = [0.6, 0.9, 0.7, 1.1, 0.8, 0.9]
speed = mt.tensor(0.01, requires_grad=True)
history = mt.tensor(0.0)

for n, m in zip(words, minutes):
    loss = (speed * n - m) ** 2
    history = history + loss
    history.backward(retain_graph=True)
    with mt.no_grad():
        speed -= 1e-7 * speed.grad
    speed.grad = None
print(f"average loss {history.item() / len(words):.4f}")
