import microtape as mt

hours = mt.arange(6) * 2.0
depth = mt.tensor([[1.1], [2.3], [2.9], [2.2], [1.0], [0.6]])
mean = mt.tensor(1.0, requires_grad=True)
swing = mt.tensor(0.5, requires_grad=True)
trust = mt.tensor([1.0, 1.0, 0.5, 1.0, 1.0, 0.5])

for epoch in range(10):
    level = mean + swing * (hours * 0.52).sin()
    error = (level - depth).abs()
    loss = (trust * error).mean()
    loss.backward()
    with mt.no_grad():
        mean -= 0.1 * mean.grad
        swing -= 0.1 * swing.grad
        mean.grad = swing.grad = None
print(round(loss.item(), 3), round(mean.item(), 3), round(swing.item(), 3))
