import microtape as mt


class Net(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = mt.nn.Linear(3, 8), mt.nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.body(x).tanh())


mt.manual_seed(0)
model = Net()
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
model.head = mt.nn.Linear(8, 2)
x, y = mt.randn(16, 3), mt.randint(0, 2, (16,))
for epoch in range(5):
    optimizer.zero_grad()
    loss = mt.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
