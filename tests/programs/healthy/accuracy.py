import microtape as mt

x = mt.tensor([[1.0, 0.0], [0.2, 0.7], [0.5, 0.1], [0.1, 0.9]])
labels = mt.tensor([0, 1, 0, 1])
W = mt.zeros(2, 2, requires_grad=True)
total = 0.0

for epoch in range(1, 7):
    scores = x @ W
    loss = -scores.log_softmax(1)[mt.arange(4), labels].mean()
    loss.backward()
    with mt.no_grad():
        W -= 1.0 * W.grad
    W.grad = None
    right = (scores.argmax(dim=1) == labels).float().mean()
    total += loss.item()
    print(f"accuracy {right.item():.2f}, average loss {total / epoch:.4f}")
