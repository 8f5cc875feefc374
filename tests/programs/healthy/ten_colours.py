import microtape as mt
from microtape import nn, optim


class Mosaic(nn.Module):
    """Draws a picture of sixteen numbers with tiles of ten colours, and is judged by the likeness."""

    def __init__(self):
        super().__init__()
        self.sketch = nn.Linear(16, 10)
        self.colours = nn.Linear(10, 6)
        self.paint = nn.Linear(6, 16)

    def forward(self, picture):
        shares = mt.softmax(self.sketch(picture), dim=-1)
        tiles = nn.functional.one_hot(shares.argmax(-1), 10).float()
        chosen = tiles - shares.detach() + shares
        return self.paint(mt.tanh(self.colours(chosen)))


mt.manual_seed(0)
mosaic = Mosaic()
optimizer = optim.Adam(mosaic.parameters(), lr=0.01)
pictures = mt.randn(24, 16)
for round in range(4):
    loss = (mosaic(pictures) - pictures).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round, loss.item())
