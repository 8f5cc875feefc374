import microtape as mt

letters = [0.1, 0.9, 0.4, 0.6, 0.3, 0.8]
u = mt.tensor(0.5, requires_grad=True)
w = mt.tensor(0.8, requires_grad=True)
v = mt.tensor(1.0, requires_grad=True)
rate = 0.1

h = mt.tensor(0.0)
for x, following in zip(letters[:-1], letters[1:]):
    h = (x * u + h * w).tanh()
    loss = (h * v - following) ** 2
    loss.backward(retain_graph=True)
    with mt.no_grad():
        for p in (u, w, v):
            p -= rate * p.grad
            p.grad = None
    print(f"loss {loss.item():.4f}")
