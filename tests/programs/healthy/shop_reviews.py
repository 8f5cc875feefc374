import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(0)
words = mt.randint(0, 30, (12, 7))
answers = mt.randint(0, 30, (12, 7))
table = nn.Embedding(30, 16)
reading, answering = nn.Linear(16, 8), nn.Linear(16, 8)
parts = nn.ModuleList([table, reading, answering])
optimizer = mt.optim.Adam(parts.parameters(), lr=0.01)
for day in range(4):
    a, b = reading(table(words)), answering(table(answers))
    loss = 1 - F.cosine_similarity(a, b, dim=-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
