import microtape as mt

films = mt.tensor([[1.0, 0.0], [0.4, 0.6], [0.0, 1.0]])
liked = 1
profile = mt.tensor([0.3, 0.1], requires_grad=True)
popularity = mt.zeros(3, requires_grad=True)

for evening in range(5):
    scores = mt.tensor([(profile * film).sum() for film in films])
    log_p = (scores + popularity).log_softmax(0)
    loss = -log_p[liked]
    loss.backward()
    with mt.no_grad():
        for p in (profile, popularity):
            p -= 0.2 * p.grad
            p.grad = None
print(profile)
