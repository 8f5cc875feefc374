import microtape as mt

answers = mt.tensor([[1.0, 0.0], [0.2, 0.7], [0.5, 0.1]])
right = mt.tensor([0, 1, 0])
W = mt.tensor([[0.4, 0.1], [0.0, 0.5]], requires_grad=True)

for epoch in range(3):
    scores = answers @ W
    chosen = scores.argmax(dim=1)
    loss = ((chosen - right).float() ** 2).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
    W.grad = None
