import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(self.inner(x).relu())


torch.manual_seed(0)
table = nn.Embedding(40, 8).requires_grad_(False)
blocks = nn.ModuleList([Block(8) for _ in range(2)])
head = nn.Linear(8, 2)
optimizer = torch.optim.SGD([*blocks.parameters(), *head.parameters()], lr=0.1)
words, labels = torch.randint(0, 40, (16, 5)), torch.randint(0, 2, (16,))
for _ in range(3):
    optimizer.zero_grad()
    x = table(words)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    loss = nn.functional.cross_entropy(head(x.mean(1)), labels)
    loss.backward()
    optimizer.step()
