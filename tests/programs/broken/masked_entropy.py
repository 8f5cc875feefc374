import microtape as mt


def entropy(scores, allowed):
    p = scores.masked_fill(~allowed, float("-inf")).softmax(dim=1)
    return -(p * p.log()).sum(dim=1).mean()


observations = mt.tensor([[0.3, 0.5], [0.1, -0.2]])
allowed = mt.tensor([[True, True, False], [True, True, True]])
wanted = mt.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
W = mt.tensor([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], requires_grad=True)

for epoch in range(3):
    scores = observations @ W
    loss = ((scores - wanted) ** 2).mean() - 0.01 * entropy(scores, allowed)
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
    W.grad = None
    print("loss", loss.item())
