import microtape as mt

amounts = mt.tensor(
    [[2.0, 0.0, 1.0], [5.0, 1.0, 3.0]],
    requires_grad=True,
)
prices = mt.tensor([[5.0], [6.0], [2.0]], requires_grad=True)

bills = amounts @ prices
total = bills.sum()

total.backward()

print("bills        =", bills.tolist())
print("amounts.grad =", amounts.grad.tolist())
print("prices.grad  =", prices.grad.tolist())
