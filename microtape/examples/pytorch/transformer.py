import torch
from torch import nn

# A small transformer on PyTorch, which reads a word and predicts each next
# letter.
#
# Look at: the scores of blocks.0 and blocks.1. Where the mask put -inf, the
# weights are 0, and no gradient goes back to a letter that was not there yet.
# And look at x: each block adds to it, so its gradient is a sum, of which one
# term comes past the block unchanged. Press z to fold the two blocks.


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 8), nn.Linear(8, width)

    def forward(self, x, later):
        h = self.norm1(x)
        scores = self.query(h) @ self.key(h).T / h.shape[-1] ** 0.5
        scores = scores.masked_fill(later, -torch.inf)
        weights = scores.softmax(dim=-1)
        x = x + weights @ self.value(h)
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, letters, length, width):
        super().__init__()
        self.letter = nn.Embedding(letters, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))
        self.head = nn.Linear(width, letters)

    def forward(self, word):
        length = len(word)
        x = self.letter(word) + self.place(torch.arange(length))
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, later)
        return self.head(x)


torch.manual_seed(0)
word = torch.tensor(["abcdr".index(letter) for letter in "abracadabra"])
model = Transformer(letters=5, length=10, width=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
for _ in range(20):
    guess = model(word[:-1])
    loss = nn.functional.cross_entropy(guess, word[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
