import microtape as mt

prices = mt.tensor(
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    requires_grad=True,
)
discount = mt.tensor([[0.5], [0.8]], requires_grad=True)
extra = mt.tensor([10.0, 20.0, 30.0], requires_grad=True)

cheaper = prices * discount
bill = cheaper + extra
total = bill.sum()

total.backward()

print("extra.grad    =", extra.grad.tolist())
print("discount.grad =", discount.grad.tolist())
