import microtape as mt


def block(x, W, b):
    out = (x @ W + b).sigmoid()
    out += x
    return out


mt.manual_seed(0)
x = mt.randn(6, 4)
target = mt.randn(6, 4)
layers = [(mt.randn(4, 4, requires_grad=True), mt.zeros(4, requires_grad=True)) for _ in range(2)]

h = x
for W, b in layers:
    h = block(h, W, b)
loss = ((h - target) ** 2).mean()
print("loss", loss.item() > 0)
loss.backward()

with mt.no_grad():
    for W, b in layers:
        W -= 0.1 * W.grad
        b -= 0.1 * b.grad
