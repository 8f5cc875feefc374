import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
queries, keys, values, species = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(8, 4)
layers = nn.ModuleList([queries, keys, values, species])
optimizer = optim.Adam(layers.parameters(), lr=0.01)
songs, heard = mt.randn(12, 10, 6), mt.randint(0, 4, (12,))

for epoch in range(3):
    scores = queries(songs) @ keys(songs).transpose(1, 2) / 8**0.5
    weights = nn.functional.softmax(scores, dim=1)
    song = (weights @ values(songs)).mean(1)
    loss = nn.functional.cross_entropy(species(song), heard)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch}: {loss.item():.4f}")
