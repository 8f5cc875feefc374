import microtape as mt

boards = mt.tensor([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]])
legal = mt.tensor([[True, True, False, True], [True, False, False, True]])
played = mt.tensor([1, 3])
W = (mt.arange(12).sin() * 0.4).reshape(3, 4).requires_grad_()

for epoch in range(6):
    scores = (boards @ W).masked_fill(~legal, float("-inf"))
    log_p = scores.log_softmax(dim=1)
    loss = -log_p.gather(1, played[:, None]).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.5 * W.grad
    W.grad = None
    print(epoch, round(loss.item(), 4))
