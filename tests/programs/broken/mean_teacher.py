import microtape as mt

x = mt.tensor([[0.2, 0.4], [0.6, 0.1], [0.9, 0.8]])
y = mt.tensor([[1.4], [1.3], [2.5]])
W = mt.zeros(2, 1, requires_grad=True)
slow = mt.ones(2, 1, requires_grad=True)


def learn(rate):
    with mt.no_grad():
        W.sub_(rate * W.grad)
    W.grad = None


for epoch in range(6):
    fit = ((x @ W - y) ** 2).mean()
    agreement = ((x @ W - x @ slow) ** 2).mean()
    (fit + 0.1 * agreement).backward()
    learn(0.3)
    with mt.no_grad():
        slow.lerp_(W, 0.2)
print(W.detach().flatten(), slow.detach().flatten())
