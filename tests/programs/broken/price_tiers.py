import microtape as mt

usage = mt.tensor([0.4, 1.3, 2.6, 3.1])
paid = mt.tensor([0.0, 2.0, 5.0, 6.0])
w = mt.tensor(1.0, requires_grad=True)
b = mt.tensor(0.2, requires_grad=True)

for epoch in range(5):
    tier = (usage * w + b).floor()
    loss = ((2.0 * tier - paid) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad = None
    print(epoch, loss.item(), w.item())
