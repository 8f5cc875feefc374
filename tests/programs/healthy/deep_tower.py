import microtape as mt
from microtape import nn
from microtape.utils.checkpoint import checkpoint


class Floor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(6, 6)

    def forward(self, x):
        energy = self.mix(x)
        return x + (1 + energy.square()).log()


mt.manual_seed(0)
tower = nn.ModuleList([Floor() for _ in range(3)])
head = nn.Linear(6, 1)
signal = mt.rand(5, 6, requires_grad=True)
x = signal
for floor in tower:
    x = checkpoint(floor, x, use_reentrant=True)
head(x).mean().backward()
