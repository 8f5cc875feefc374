import microtape as mt
from microtape import nn, optim


class Attention(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", mt.ones(longest, longest).triu())

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.inputs(x).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


mt.manual_seed(0)
words = mt.randint(0, 20, (8, 13))
table, attention, following = nn.Embedding(20, 16), Attention(16, 2, 12), nn.Linear(16, 20)
layers = nn.ModuleList([table, attention, following])
optimizer = optim.Adam(layers.parameters(), lr=0.01)
for step in range(3):
    scores = following(attention(table(words[:, :-1])))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}")
