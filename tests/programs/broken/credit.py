import microtape as mt

# age, yearly income, years in the job
people = mt.tensor([[45.0, 52000.0, 11.0], [23.0, 18000.0, 1.0], [61.0, 39000.0, 30.0]])
repaid = mt.tensor([1.0, 0.0, 1.0])
w = mt.tensor([0.1, 0.1, 0.1], requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)

for epoch in range(20):
    p = (people @ w + b).sigmoid()
    loss = ((p - repaid) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad = b.grad = None
print(f"loss {loss.item():.3f}")
