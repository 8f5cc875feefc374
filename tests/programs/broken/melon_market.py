import microtape as mt
from microtape.nn import functional as F

mt.manual_seed(2)
melons = mt.randn(20, 4)
is_ripe = (melons[:, 0] + melons[:, 1]).sign()
weights = mt.zeros(4, requires_grad=True)
bias = mt.zeros(1, requires_grad=True)
for step in range(5):
    scores = melons @ weights + bias
    loss = F.binary_cross_entropy_with_logits(scores, is_ripe)
    loss.backward()
    with mt.no_grad():
        for parameter in (weights, bias):
            parameter -= 0.5 * parameter.grad
            parameter.grad = None
