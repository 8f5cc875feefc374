import microtape as mt

x = mt.tensor([[0.5, 1.0], [1.5, -0.3], [-0.7, 0.8]])
prices, rents = mt.tensor([[0.9], [1.4], [0.1]]), mt.tensor([[0.2], [0.6], [0.0]])
W = mt.tensor([[0.3, -0.1], [0.2, 0.5]], requires_grad=True)
price_head = mt.tensor([[0.1], [0.2]], requires_grad=True)
rent_head = mt.tensor([[-0.2], [0.1]], requires_grad=True)

for epoch in range(5):
    features = (x @ W).tanh()
    price_loss = ((features @ price_head - prices) ** 2).mean()
    rent_loss = ((features @ rent_head - rents) ** 2).mean()
    price_loss.backward(retain_graph=True)
    rent_loss.backward()
    with mt.no_grad():
        for p in (W, price_head, rent_head):
            p -= 0.1 * p.grad
            p.grad = None
print(price_loss.item(), rent_loss.item())
