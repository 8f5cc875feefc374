import microtape as mt


def softmax(scores):
    weights = scores.exp()
    return weights / weights.sum(dim=1, keepdim=True)


pixels = mt.tensor([[0.0, 128.0, 255.0], [255.0, 64.0, 0.0]])
labels = mt.tensor([[0.0, 1.0], [1.0, 0.0]])
W = mt.tensor([[0.5, -0.5], [0.2, 0.1], [-0.3, 0.6]], requires_grad=True)

for epoch in range(3):
    p = softmax(pixels @ W)
    loss = -(labels * p.log()).sum() / 2
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
        W.grad.zero_()
    print("epoch", epoch, "loss", loss.item())
