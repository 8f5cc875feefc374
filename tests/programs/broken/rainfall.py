import microtape as mt

clouds = mt.tensor([[0.1, 0.5], [0.8, 0.2], [0.4, 0.9], [0.7, 0.7], [0.3, 0.1]])
rain = mt.tensor([0.2, 0.6, 0.9, 1.1, 0.1])
W = mt.tensor([[0.3], [0.3]], requires_grad=True)
b = mt.zeros(1, requires_grad=True)

for epoch in range(20):
    guess = clouds @ W + b
    loss = ((guess - rain) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.3 * p.grad
            p.grad = None
print(f"loss {loss.item():.3f}", [round(g, 2) for g in guess.flatten().tolist()])
