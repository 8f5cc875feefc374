import microtape as mt

mt.manual_seed(0)
positions = mt.randn(12, 5)
results = mt.randint(0, 2, (12,)) * 2.0 - 1.0
moves = mt.randint(0, 4, (12, 1))
policy = (0.1 * mt.randn(5, 4)).requires_grad_()
critic = (0.1 * mt.randn(5)).requires_grad_()

for game in range(4):
    surprise = results - positions @ critic
    log_p = (positions @ policy).log_softmax(dim=1).gather(1, moves).squeeze(1)
    loss = (surprise * surprise).mean() - (log_p * surprise).mean()
    loss.backward()
    with mt.no_grad():
        for p in (policy, critic):
            p -= 0.1 * p.grad
            p.grad = None
    print(f"{game}: {loss.item():.4f}")
