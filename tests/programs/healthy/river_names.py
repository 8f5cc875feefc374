import microtape as mt
from microtape import nn

mt.manual_seed(0)
letters = mt.randint(0, 9, (6, 12))
reader, writer = nn.Embedding(10, 16), nn.Linear(16, 9)
mixer = nn.Linear(12, 12)
optimizer = mt.optim.Adam([*reader.parameters(), *writer.parameters(), *mixer.parameters()], lr=0.01)
for step in range(5):
    hidden = mt.rand(6, 12) < 0.4
    seen = reader(letters.masked_fill(hidden, 9))
    asked = letters.masked_fill(hidden.logical_not(), -100)
    filled = nn.functional.cross_entropy(
        writer(seen + mixer(seen.transpose(1, 2)).transpose(1, 2)).transpose(1, 2), asked
    )
    noisy = reader(letters) * (mt.rand(6, 12, 1) < 0.7) + mt.randn(6, 12, 16)
    cleaned = nn.functional.cross_entropy(writer(noisy).transpose(1, 2), letters)
    following = nn.functional.cross_entropy(writer(reader(letters[:, :-1])).transpose(1, 2), letters[:, 1:])
    optimizer.zero_grad()
    (filled + cleaned + following).backward()
    optimizer.step()
