import microtape as mt
from microtape import nn

mt.manual_seed(6)
readings, sorts = mt.randn(24, 5), mt.randint(0, 3, (24,))


class Orchard(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Linear(5, 4)
        first = mt.randn(1, 4)
        self.typical = nn.Parameter(first.expand(3, 4) + 0.1 * mt.randn(3, 4))

    def forward(self, x):
        seen = self.look(x).tanh()
        return -(seen.unsqueeze(1) - self.typical).square().sum(2)


orchard = Orchard()
optimizer = mt.optim.SGD(orchard.parameters(), lr=0.1)
for day in range(4):
    loss = nn.functional.cross_entropy(orchard(readings), sorts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(day, loss.item())
