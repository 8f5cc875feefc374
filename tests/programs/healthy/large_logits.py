import microtape as mt

pixels = mt.tensor([[0.0, 128.0, 255.0], [255.0, 64.0, 0.0]])
labels = mt.tensor([0, 1])
W = mt.tensor([[0.5, -0.5], [0.2, 0.1], [-0.3, 0.6]], requires_grad=True)


def log_softmax(scores):
    shifted = scores - scores.amax(dim=1, keepdim=True).detach()
    return shifted - shifted.exp().sum(dim=1, keepdim=True).log()


for epoch in range(5):
    loss = -log_softmax(pixels @ W)[mt.arange(2), labels].mean()
    loss.backward()
    with mt.no_grad():
        W -= 1e-4 * W.grad
    W.grad = None
    print(epoch, round(loss.item(), 3))
