import microtape as mt

prices = [1.0, 1.2, 1.1, 1.5, 1.4, 1.8]
trend = mt.tensor(0.9, requires_grad=True)
start = mt.tensor(0.1, requires_grad=True)

average = 0.0
for epoch in range(8):
    total = mt.tensor(0.0)
    for today, tomorrow in zip(prices, prices[1:]):
        total = total + (trend * today + start - tomorrow) ** 2
    total.backward()
    average = 0.9 * average + 0.1 * total.item()
    with mt.no_grad():
        for p in (trend, start):
            p -= 0.02 * p.grad
            p.grad = None
print(round(average, 4), round(trend.item(), 3))
