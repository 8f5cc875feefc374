import microtape as mt

YEARS = 40
counted = 0.42
rate = mt.tensor(3.9, requires_grad=True)
first = mt.tensor(0.31, requires_grad=True)

for guess in range(3):
    n = first
    for year in range(YEARS):
        n = rate * n * (1 - n)
    loss = (n - counted) ** 2
    loss.backward()
    print(f"rate {rate.item():.6f}: loss {loss.item():.3f}, slope {rate.grad.item():.3g}")
    with mt.no_grad():
        rate -= 1e-14 * rate.grad
        first -= 1e-14 * first.grad
    rate.grad = first.grad = None
