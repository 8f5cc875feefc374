import microtape as mt
from microtape import nn, optim


class PondFinder(nn.Module):
    """Says of each pixel of an aerial picture whether it belongs to a pond."""

    def __init__(self):
        super().__init__()
        self.near = nn.Conv2d(1, 6, 3, padding=1)
        self.far = nn.Conv2d(6, 1, 3, padding=1)

    def forward(self, picture):
        return self.far(self.near(picture).relu())


def overlap(found, ponds):
    both = (found * ponds).sum()
    return (2 * both + 1) / (found.sum() + ponds.sum() + 1)


mt.manual_seed(0)
pictures = mt.randn(6, 1, 8, 8)
ponds = (pictures < -0.5).float()
finder = PondFinder()
optimizer = optim.Adam(finder.parameters(), lr=1e-2)
for epoch in range(4):
    scores = finder(pictures)
    found = (scores.sigmoid() > 0.5).float()
    loss = nn.functional.binary_cross_entropy_with_logits(scores, ponds) + (1 - overlap(found, ponds))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch}: {loss.item():.3f}")
