import microtape as mt

# All weights require a gradient, but in the first epochs only the head is trained.
x = mt.tensor([[0.2, 0.7], [0.9, 0.1], [0.4, 0.4]])
y = mt.tensor([[1.0], [0.0], [0.5]])
body = mt.tensor([[0.4, 0.1], [-0.3, 0.6]], requires_grad=True)
head = mt.tensor([[0.1], [0.1]], requires_grad=True)

for epoch in range(6):
    h = (x @ body).tanh()
    if epoch < 3:
        h = h.detach()
    loss = ((h @ head - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (body, head) if epoch >= 3 else (head,):
            p -= 0.3 * p.grad
            p.grad = None
    print(epoch, round(loss.item(), 4))
