import microtape as mt

words = mt.linspace(-1.0, 1.0, 12).reshape(4, 3)
Q, K, V = [(mt.eye(3) * scale).requires_grad_() for scale in (0.9, 0.6, 0.8)]
future = mt.triu(mt.ones(4, 4), 1) > 0

for epoch in range(5):
    scores = (words @ Q) @ (words @ K).t() / 3**0.5
    attention = scores.masked_fill(future, float("-inf")).softmax(dim=1)
    read = attention @ (words @ V)
    loss = ((read[:-1] - words[1:]) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (Q, K, V):
            p -= 0.3 * p.grad
            p.grad = None
print(round(loss.item(), 4), attention[0])
