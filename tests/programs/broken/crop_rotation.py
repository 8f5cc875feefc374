import microtape as mt
from microtape import nn

mt.manual_seed(4)
PLANTS, SIZE = 12, 6


class Gardener(nn.Module):
    def __init__(self):
        super().__init__()
        self.plants = nn.Embedding(PLANTS, SIZE)
        self.season = nn.Linear(SIZE, SIZE)
        self.guess = nn.Linear(SIZE, PLANTS, bias=False)
        self.guess.weight = nn.Parameter(self.plants.weight)

    def forward(self, seen):
        return self.guess(self.season(self.plants(seen)).tanh())


gardener = Gardener()
optimizer = mt.optim.Adam(gardener.parameters(), lr=0.01)
sown = mt.randint(0, PLANTS, (40,))
follows = (sown + 1) % PLANTS
for spring in range(5):
    loss = nn.functional.cross_entropy(gardener(sown), follows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(spring, loss.item())
