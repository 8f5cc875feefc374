import microtape as mt


class Net(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = mt.nn.Linear(4, 8)

    def forward(self, x):
        h = self.first(x).relu()
        return mt.nn.Linear(8, 2)(h)


mt.manual_seed(0)
net = Net()
optimizer = mt.optim.SGD(net.parameters(), lr=0.1)
x, y = mt.randn(12, 4), mt.randint(0, 2, (12,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = mt.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
