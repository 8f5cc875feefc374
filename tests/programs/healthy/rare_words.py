import microtape as mt

table = (mt.arange(20).sin() * 0.3).reshape(10, 2).requires_grad_()
v = mt.tensor([0.5, -0.5], requires_grad=True)
sentences = [mt.tensor([1, 4, 2]), mt.tensor([2, 1]), mt.tensor([4, 4, 1])]
moods = [1.0, 0.0, 1.0]

for epoch in range(4):
    for sentence, mood in zip(sentences, moods):
        p = (table[sentence].mean(0) @ v).sigmoid()
        loss = -(mood * p.log() + (1 - mood) * (1 - p).log())
        loss.backward()
        with mt.no_grad():
            table -= 0.5 * table.grad
            v -= 0.5 * v.grad
        table.grad = v.grad = None
print(f"loss {loss.item():.4f}")
