import microtape as mt

mt.manual_seed(0)
nn = mt.nn


class Growth(nn.Module):
    def __init__(self):
        super().__init__()
        self.soil = nn.Linear(3, 12)
        self.stem = nn.Linear(12, 1)

    def forward(self, garden):
        roots = mt.relu(self.soil(garden))
        return mt.sigmoid(self.stem(roots))


garden = mt.randn(30, 3)
height = 18 + 4 * garden[:, :1] + mt.randn(30, 1)
growth = Growth()
optimizer = mt.optim.Adam(growth.parameters(), lr=0.05)
for week in range(4):
    loss = nn.functional.mse_loss(growth(garden), height)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
