import microtape as mt

prices = mt.tensor([10.0, 10.5, 10.2, 11.0, 11.3])
scale = mt.tensor(1.0, requires_grad=True)
shift = mt.tensor(0.0, requires_grad=True)

growth = (prices[1:] - prices[:-1]).log()
for epoch in range(4):
    likelihood = -0.5 * ((growth - shift) / scale) ** 2 - scale.abs().log()
    loss = -likelihood.mean()
    loss.backward()
    with mt.no_grad():
        scale -= 0.01 * scale.grad
        shift -= 0.01 * shift.grad
    scale.grad = shift.grad = None
print("loss", loss.item())
