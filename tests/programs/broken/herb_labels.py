import microtape as mt

nn = mt.nn
mt.manual_seed(6)
words = mt.randint(1, 6, (8, 7))
for i in range(8):
    words[i, 2 + i % 4 :] = 0  # the end, and nothing after it
table = nn.Embedding(6, 5, padding_idx=0)
layers = nn.Sequential(table, nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 6))
criterion = nn.CrossEntropyLoss()
optimizer = mt.optim.SGD(layers.parameters(), lr=0.2)
for jar in range(3):
    scores = layers(words[:, :-1])
    loss = criterion(scores.reshape(-1, 6), words[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
