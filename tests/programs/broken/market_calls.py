import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(5)
calls = mt.randint(0, 9, (6, 13))
table, places = nn.Embedding(9, 8), nn.Embedding(12, 8)
query, key, value = (nn.Linear(8, 8) for _ in range(3))
head = nn.Linear(8, 9)
layers = [table, places, query, key, value, head]
optimizer = mt.optim.Adam([p for one in layers for p in one.parameters()], lr=0.01)
for day in range(3):
    heard, following = calls[:, :-1], calls[:, 1:]
    x = table(heard) + places(mt.arange(12))
    scores = query(x) @ key(x).transpose(1, 2) / 8**0.5
    x = x + F.softmax(scores, dim=-1) @ value(x)
    loss = F.cross_entropy(head(x).transpose(1, 2), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
