import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(5)
notes = mt.randint(1, 9, (6, 16))
table, places, head = nn.Embedding(9, 8), nn.Embedding(16, 8), nn.Linear(8, 9)
query, key, value = (nn.Linear(8, 8) for _ in range(3))
layers = [table, places, query, key, value, head]
optimizer = mt.optim.Adam([p for one in layers for p in one.parameters()], lr=0.01)
prefix = mt.arange(16) < 6
allowed = (mt.ones(16, 16).tril() == 1) | prefix  # what is given is read both ways, the rest is continued
for day in range(3):
    asked = notes.roll(-1, 1).masked_fill(mt.arange(16) < 6, -100)
    asked[:, -1] = -100
    x = table(notes) + places(mt.arange(16))
    scores = query(x) @ key(x).transpose(1, 2) / 8**0.5
    x = x + scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ value(x)
    loss = F.cross_entropy(head(x).transpose(1, 2), asked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
