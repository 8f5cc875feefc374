import microtape as mt

seen = mt.tensor([3.0, 5.0, 0.0, 4.0, 6.0, 1.0])
scores = mt.tensor([0.0, 0.0, 0.0, 0.0, 0.0, -90.0], requires_grad=True)

for throw in range(4):
    p = scores.softmax(dim=0)
    loss = -(seen * (p + 1e-10).log()).sum() / seen.sum()
    loss.backward()
    with mt.no_grad():
        scores -= 0.1 * scores.grad
        scores.grad = None
    print(throw, loss.item(), p.tolist())
