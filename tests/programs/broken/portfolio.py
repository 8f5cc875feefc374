import microtape as mt

gains = mt.tensor([[0.05, 0.01, -0.02], [-0.01, 0.02, 0.03], [0.04, 0.0, 0.01]])
shares = mt.tensor([0.3, 0.3, 0.4], requires_grad=True)

for day in range(4):
    outcome = gains @ shares
    risk = outcome.var()
    loss = -outcome.mean() + 2.0 * risk + (shares.sum() - 1) ** 2
    loss.backward()
    with mt.no_grad():
        shares -= 0.5 * shares.grad
    shares.grad = None
    shares = shares.clamp(0.0, 1.0)
print(shares)
