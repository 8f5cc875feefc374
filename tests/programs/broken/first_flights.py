import microtape as mt
from microtape import nn, optim
from microtape.nn import functional as F

mt.manual_seed(0)


class Glider(nn.Module):
    def __init__(self):
        super().__init__()
        self.wing, self.tail = nn.Linear(4, 32), nn.Linear(32, 1)

    def forward(self, wind):
        return self.tail(F.dropout(self.wing(wind).relu(), 0.3))


glider = Glider()
optimizer = optim.Adam(glider.parameters(), lr=0.01)
wind, distance = mt.randn(24, 4), mt.randn(24, 1)
for _ in range(3):
    glider.train()
    loss = F.mse_loss(glider(wind), distance)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    glider.eval()
    with mt.no_grad():
        print(F.mse_loss(glider(wind), distance).item())
