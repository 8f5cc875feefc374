import microtape as mt

x = mt.tensor([[0.2, 0.4], [0.6, 0.1], [0.9, 0.8]])
y = mt.tensor([[1.4], [1.3], [2.5]])
W = mt.zeros(2, 1, requires_grad=True)
average = mt.zeros(2, 1)
best, lowest = W.detach().clone(), float("inf")

for epoch in range(15):
    loss = ((x @ W - y) ** 2).mean()
    if loss.item() < lowest:
        best, lowest = W.detach().clone(), loss.item()
    loss.backward()
    with mt.no_grad():
        W -= 0.3 * W.grad
        average.lerp_(W, 0.2)
    W.grad = None
print(best.flatten(), average.flatten())
