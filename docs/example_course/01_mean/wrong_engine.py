import microtape as mt

x = mt.tensor([2.0, 4.0, 9.0], requires_grad=True)
double = x * 2
distance = double - double.mean()
total = (distance * distance).sum()

total.backward()

print("x.grad =", x.grad.tolist())
