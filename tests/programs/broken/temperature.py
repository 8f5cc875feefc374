import microtape as mt

scores = mt.tensor([[2.0, 0.1, -1.0], [0.3, 1.2, 0.9], [0.5, 0.4, 3.0]])
labels = mt.tensor([0, 1, 2])
log_heat = mt.tensor(0.0, requires_grad=True)
bias = mt.zeros(3, requires_grad=True)

for epoch in range(20):
    heat = log_heat.exp().item()
    log_p = (scores / heat + bias).log_softmax(dim=1)
    loss = -log_p[mt.arange(3), labels].mean()
    loss.backward()
    with mt.no_grad():
        for p in (log_heat, bias):
            p -= 0.1 * p.grad
            p.grad = None
