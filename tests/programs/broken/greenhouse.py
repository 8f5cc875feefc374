import microtape as mt
from microtape.nn import functional as F


class Values(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = mt.nn.Linear(3, 12), mt.nn.Linear(12, 2)

    def forward(self, x):
        return self.out(mt.tanh(self.hidden(x)))


mt.manual_seed(2)
model = Values()
optimizer = mt.optim.SGD(model.parameters(), lr=0.05)
for day in range(5):
    weather, tomorrow = mt.randn(16, 3), mt.randn(16, 3)
    opened, harvest = mt.randint(0, 2, (16, 1)), mt.rand(16, 1)
    is_last = (mt.rand(16, 1) < 0.1).float()
    estimate = model(weather).gather(1, opened)
    future = model(tomorrow).max(1, keepdim=True)[0]
    target = harvest + 0.9 * future * (1 - is_last)
    optimizer.zero_grad()
    F.smooth_l1_loss(estimate, target).backward()
    optimizer.step()
