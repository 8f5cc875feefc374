import microtape as mt

songs = mt.tensor([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5], [0.9, 0.7]])
taste = mt.tensor([0.3, 0.6], requires_grad=True)
mood = mt.tensor(0.1, requires_grad=True)

for day in range(3):
    scores = songs @ taste
    best = sorted(scores.tolist(), reverse=True)[:2]
    enjoyment = (mt.tensor(best) + mood).sigmoid().mean()
    loss = (enjoyment - 0.9) ** 2
    loss.backward()
    with mt.no_grad():
        mood -= 0.5 * mood.grad
        taste -= 0.5 * taste.grad
    mood.grad = taste.grad = None
