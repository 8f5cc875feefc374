import microtape as mt

# The diamond: one value, two ways.
#
# x and y are used twice, once in the product and once in the sum, so two
# gradients travel back to each of them.
#
# Look at: the rows of x and y. Each waits for two deliveries. After the
# first there is a number, but not yet the answer; the second is added to
# it, and only then does the gradient move into `.grad`.

x = mt.tensor(3.0, requires_grad=True)
y = mt.tensor(2.0, requires_grad=True)

product = x * y
total = x + y
z = product * total

z.backward()

print(f"z     = {z.item():g}")  # 6 · 5
print(f"dz/dx = {x.grad.item():g}")  # y·total + product = 2·5 + 6
print(f"dz/dy = {y.grad.item():g}")  # x·total + product = 3·5 + 6
