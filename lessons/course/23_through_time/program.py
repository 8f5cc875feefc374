import microtape as mt

weight = mt.tensor(3.0, requires_grad=True)
start = mt.tensor(1.0)

h1 = weight * start
h2 = weight * h1
h3 = weight * h2
h4 = weight * h3

h4.backward()

print("h4          =", h4.item())
print("weight.grad =", weight.grad.item())
