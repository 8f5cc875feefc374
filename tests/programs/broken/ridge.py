import microtape as mt

x = mt.tensor([[1.0, 0.2], [0.3, 0.8], [0.5, 0.5], [0.9, 0.1]])
y = mt.tensor([[1.3], [0.6], [0.8], [1.1]])
W = mt.zeros(2, 1, requires_grad=True)

penalty = 0.01 * (W**2).sum()


def train_step(rate):
    loss = ((x @ W - y) ** 2).mean() + penalty
    loss.backward()
    with mt.no_grad():
        W.sub_(rate * W.grad)
    W.grad = None
    return loss.item()


for epoch in range(5):
    print(epoch, round(train_step(0.5), 4))
