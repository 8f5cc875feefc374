import microtape as mt

prices = mt.tensor(
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
    requires_grad=True,
)
extra = mt.tensor([10.0, 20.0], requires_grad=True)

bill = prices + extra
total = bill.sum()

total.backward()

print("total       =", total.item())
print("prices.grad =", prices.grad.tolist())
print("extra.grad  =", extra.grad.tolist())
