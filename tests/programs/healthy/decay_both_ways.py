import microtape as mt

mt.manual_seed(6)
x, y = mt.randn(20, 30), mt.randn(20, 1)
start = 0.1 * mt.randn(30, 1)
by_hand, by_optimizer = (start.clone().requires_grad_() for _ in range(2))
penalty, rate = 0.5, 0.05
plain = mt.optim.SGD([by_hand], lr=rate)
decayed = mt.optim.SGD([{"params": [by_optimizer], "weight_decay": penalty}], lr=rate)

for epoch in range(10):
    for w, optimizer, factor in ((by_hand, plain, penalty), (by_optimizer, decayed, 0.0)):
        optimizer.zero_grad()
        loss = ((x @ w - y) ** 2).mean() + factor * (w**2).sum() / 2
        loss.backward()
        optimizer.step()
print(mt.allclose(by_hand, by_optimizer, atol=1e-6), by_hand.norm().item() < start.norm().item())
