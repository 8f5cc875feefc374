import microtape as mt

mt.manual_seed(5)
counts = mt.randint(0, 6, (80, 5)).float()
is_spam = (counts[:, 0] + counts[:, 3] > 5).float()
weights = mt.zeros(5, 1, requires_grad=True)
bias = mt.zeros(1, requires_grad=True)

for round in range(20):
    probability = mt.sigmoid(counts @ weights + bias).squeeze(1)
    loss = mt.nn.functional.binary_cross_entropy_with_logits(probability, is_spam)
    loss.backward()
    with mt.no_grad():
        for parameter in (weights, bias):
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
