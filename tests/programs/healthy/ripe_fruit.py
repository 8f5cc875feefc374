import microtape as mt

mt.manual_seed(0)


class Sorter(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.look = mt.nn.Linear(6, 16)
        self.sort = mt.nn.Linear(16, 4)

    def forward(self, fruit):
        seen = mt.relu(self.look(fruit))
        return self.sort(seen)


fruit = mt.randn(40, 6)
crates = (fruit @ mt.randn(6, 4)).argmax(dim=1)
sorter = Sorter()
optimizer = mt.optim.SGD(sorter.parameters(), lr=0.1)
for day in range(4):
    guess = sorter(fruit)
    loss = mt.nn.functional.cross_entropy(guess, crates)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
