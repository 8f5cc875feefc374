import microtape as mt

waits = mt.tensor([3.1, 2.9, 3.0, 3.2, 2.8])
mean = mt.tensor(2.0, requires_grad=True)
spread = mt.tensor(1.0, requires_grad=True)
rate = 0.3

for epoch in range(12):
    likelihood = -0.5 * ((waits - mean) / spread) ** 2 - spread.log()
    loss = -likelihood.mean()
    loss.backward()
    with mt.no_grad():
        mean -= rate * mean.grad
        spread -= rate * spread.grad
    mean.grad = spread.grad = None
    print(f"{epoch}: {loss.item():.3f}")
