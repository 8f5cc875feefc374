import microtape as mt

houses = mt.tensor([[0.5, 1.0], [1.5, -0.3], [-0.7, 0.8]])
prices = mt.tensor([[0.9], [1.4], [0.1]])
rents = mt.tensor([[0.2], [0.6], [0.0]])

W = mt.tensor([[0.3, -0.1, 0.4], [0.2, 0.5, -0.3]], requires_grad=True)
b = mt.zeros(3, requires_grad=True)
price_head = mt.tensor([[0.1], [0.2], [0.3]], requires_grad=True)
rent_head = mt.tensor([[-0.2], [0.1], [0.4]], requires_grad=True)

features = (houses @ W + b).tanh()
loss_price = ((features @ price_head - prices) ** 2).mean()
loss_rent = ((features @ rent_head - rents) ** 2).mean()

loss_price.backward()
loss_rent.backward()

with mt.no_grad():
    for p in (W, b, price_head, rent_head):
        p -= 0.1 * p.grad
