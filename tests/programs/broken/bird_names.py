import microtape as mt
from microtape import nn

mt.manual_seed(0)
names = "sparrow.heron.kestrel.avocet.plover.bittern.dunnock.siskin."
letters = sorted(set(names))
text = mt.tensor([letters.index(one) for one in names])
model = nn.Sequential(nn.Embedding(len(letters), 16), nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, len(letters)))
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
for step in range(6):
    at = mt.randint(0, len(text) - 17, (4,)).tolist()
    x = mt.stack([text[i : i + 16] for i in at])
    y = mt.stack([text[i : i + 16] for i in at])
    loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
