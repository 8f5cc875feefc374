import microtape as mt


def quantize(w, levels=8):
    return w + ((w * levels).round() / levels - w).detach()


x = mt.tensor([[0.3, 0.6], [0.9, -0.4], [-0.5, 0.2]])
y = mt.tensor([[0.5], [0.1], [0.0]])
w = mt.tensor([[0.21], [0.47]], requires_grad=True)

for epoch in range(15):
    loss = ((x @ quantize(w) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.3 * w.grad
    w.grad = None
print(quantize(w).flatten())
