import torch
from torch import nn


class Block(nn.Module):
    """Attention, then a small network, each added to its input."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, padding):
        query, key, value = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        scores = query @ key.mT / query.shape[-1] ** 0.5
        scores = scores.masked_fill(padding[:, None, :], torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        x = x + self.out(weights @ value)
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Tags(nn.Module):
    """A tag for each word."""

    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.block = Block(width)
        self.head = nn.Linear(width, 2)

    def forward(self, words, padding):
        x = self.block(self.embedding(words), padding)
        return self.head(x)


torch.manual_seed(0)
model = Tags(words=20, width=8)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
lengths = torch.tensor([[5, 3, 4], [2, 5, 1], [4, 5, 0], [3, 3, 2]])

for batch in range(4):
    words = torch.randint(0, 20, (3, 5))
    padding = torch.arange(5) >= lengths[batch][:, None]
    loss = nn.functional.cross_entropy(model(words, padding)[~padding], (words % 2)[~padding])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"batch {batch}: loss {loss.item():.3f}")
