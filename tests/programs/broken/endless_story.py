import microtape as mt

letters = [0.2, 0.7, 0.1, 0.9, 0.5, 0.3, 0.8, 0.4, 0.6]
u = mt.tensor(0.4, requires_grad=True)
w = mt.tensor(0.9, requires_grad=True)
v = mt.tensor(1.0, requires_grad=True)

h = mt.tensor(0.0)
for letter, following in zip(letters, letters[1:]):
    h = (u * letter + w * h).tanh()
    loss = (v * h - following) ** 2
    loss.backward(retain_graph=True)
    for p in (u, w, v):
        p.data -= 0.05 * p.grad
        p.grad = None
    print(f"loss {loss.item():.4f}")
