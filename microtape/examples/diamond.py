import microtape as mt

# The diamond: one value, two paths.
#
# x and y are used twice, once in the product and once in the sum, so two
# gradients arrive at each of them.
#
# Look at: the rows of x and y. Each waits for two gradients. After the
# first, its sum is not complete yet; the second is added to it, and only
# then does the gradient move into `.grad`.

x = mt.tensor(3.0, requires_grad=True)
y = mt.tensor(2.0, requires_grad=True)

product = x * y
total = x + y
z = product * total

z.backward()

print(f"z     = {z.item():g}")  # 6 · 5
print(f"dz/dx = {x.grad.item():g}")  # y·total + product = 2·5 + 6
print(f"dz/dy = {y.grad.item():g}")  # x·total + product = 3·5 + 6
