import microtape as mt

paid = mt.tensor([5.0, 2.0, 4.0], requires_grad=True)

balance = paid.cumsum(0)
points = balance * 2

points.backward(gradient=mt.tensor([1.0, 10.0, 100.0]))

print("points    =", points.tolist())
print("paid.grad =", paid.grad.tolist())
