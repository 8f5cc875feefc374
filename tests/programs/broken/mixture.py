import microtape as mt

values = mt.tensor([0.2, 1.9, 0.1, 2.2, 1.8])
logits = mt.zeros(2, requires_grad=True)
centres = mt.tensor([0.5, 1.5], requires_grad=True)

shares = logits.softmax(0)
for epoch in range(10):
    density = (-((values[:, None] - centres) ** 2)).exp() @ shares
    loss = -density.log().mean()
    loss.backward()
    with mt.no_grad():
        for p in (logits, centres):
            p -= 0.1 * p.grad
            p.grad = None
print(centres)
