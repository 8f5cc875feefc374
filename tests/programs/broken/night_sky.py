import microtape as mt

mt.manual_seed(0)
stars = 20 * mt.randn(5, 3)
W = mt.randn(3, 3, requires_grad=True)
later = mt.ones(5, 5).triu(diagonal=1)

for night in range(3):
    scores = stars @ W @ stars.T
    strength = scores.masked_fill(later == 1, float("-inf")).exp()
    weights = strength / strength.sum(dim=1, keepdim=True)
    loss = (weights @ stars).pow(2).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.001 * W.grad
    W.grad = None
print(loss.item())
