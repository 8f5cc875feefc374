import microtape as mt
from microtape import nn

mt.manual_seed(0)
chords = mt.randint(0, 7, (12, 10))


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.chord, self.beat = nn.Embedding(7, 12), nn.Embedding(10, 12)
        self.norm, self.out = nn.LayerNorm(12), nn.Linear(12, 7)

    def forward(self, seen):
        x = self.chord(seen) + self.beat(mt.arange(seen.shape[1]))
        scores = (x @ x.transpose(1, 2) / 12**0.5).masked_fill(mt.ones(10, 10).triu(1) > 0, float("-inf"))
        return self.out(self.norm(x + scores.softmax(-1) @ x))


player = Player()
optimizer = mt.optim.SGD(player.parameters(), lr=0.1)
for song in range(4):
    logits = player(chords)
    loss = nn.functional.cross_entropy(logits.reshape(-1, 7), chords.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
