import microtape as mt

x = mt.tensor([25.0, 0.0, 1.0], requires_grad=True)

root = x.sqrt()
safe = mt.where(x > 0, root, 0.0)
total = safe.sum()

total.backward()

print("total  =", total.item())
print("x.grad =", x.grad.tolist())
