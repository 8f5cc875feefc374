import microtape as mt

# The third input is the same in every row.
x = mt.tensor([[0.3, 1.0, 1.0], [0.9, 0.2, 1.0], [0.4, 0.5, 1.0], [0.1, 0.8, 1.0]])
y = mt.tensor([0.2, 0.9, 0.5, 0.1])
scales = mt.ones(3, requires_grad=True)
w = mt.tensor([0.3, -0.2, 0.1], requires_grad=True)

for epoch in range(3):
    scaled = x * scales
    centred = scaled - scaled.mean(0)
    spread = (centred**2).mean(0).sqrt()
    loss = ((centred / (spread + 1e-5) @ w - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (scales, w):
            p -= 0.1 * p.grad
            p.grad = None
    print(epoch, loss.item())
