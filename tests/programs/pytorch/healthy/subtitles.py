import math

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads, self.inputs, self.output = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.inputs(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) + mask
        weights = self.dropout(F.softmax(scores, dim=-1))
        return x + self.output((weights @ v).transpose(1, 2).reshape(batch, length, width))


torch.manual_seed(0)
tokens = torch.randint(0, 30, (4, 17))
mask = torch.full((16, 16), float("-inf")).triu(diagonal=1)
table, block, head = nn.Embedding(30, 16), Block(), nn.Linear(16, 30)
layers = nn.ModuleList([table, block, head])
optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-3)
for step in range(3):
    scores = head(block(table(tokens[:, :-1]), mask))
    loss = F.cross_entropy(scores.transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
