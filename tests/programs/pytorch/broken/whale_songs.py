import torch
from torch import nn, optim

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.narrow(self.wide(self.norm(x)).relu())


trunk, head = nn.Sequential(Block(), Block()), nn.Linear(8, 5)
optimizer = optim.AdamW([*trunk.parameters(), *head.parameters()], lr=1e-3)
for _ in range(3):
    songs, whales = torch.randn(16, 8), torch.randint(0, 5, (16,))
    with torch.no_grad():
        features = trunk(songs)
    loss = nn.functional.cross_entropy(head(features), whales)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
