import microtape as mt

x = mt.linspace(-1.0, 1.0, 8).reshape(4, 2)
y = mt.tensor([[0.1], [0.4], [0.6], [0.9]])
backbone = mt.tensor([[0.5, -0.4, 0.2], [0.1, 0.3, 0.7]])
adapter = mt.eye(3, requires_grad=True)
head = mt.zeros(3, 1, requires_grad=True)

for epoch in range(10):
    features = (x @ backbone).tanh()
    loss = ((features @ adapter @ head - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (adapter, head):
            p -= 0.2 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
