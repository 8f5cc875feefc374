import microtape as mt

x = mt.tensor([2.0, 4.0, 9.0, 5.0], requires_grad=True)
average = x.mean()

average.backward()

print("average =", average.item())
print("x.grad  =", x.grad.tolist())
