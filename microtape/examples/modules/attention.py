import microtape as mt

# A transformer block learns to reverse a sequence: each place has to look at
# the place opposite to it.
#
# Look at: the gradient of `scores`, which is zero above the largest weights
# once the softmax is sure, and the two ways around each residual sum.

nn = mt.nn


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size, bias=False)
        self.out = nn.Linear(size, size)
        up, down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.mlp = nn.Sequential(up, nn.GELU(), down)

    def attention(self, x):
        batch, length, size = x.shape
        split = (batch, length, self.heads, size // self.heads)
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (one.view(split).transpose(1, 2) for one in parts)
        scores = q @ k.transpose(-2, -1) / (size // self.heads) ** 0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.out(mixed.reshape(batch, length, size))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Reverser(nn.Module):
    def __init__(self, digits, length, size):
        super().__init__()
        self.digit = nn.Embedding(digits, size)
        self.place = nn.Embedding(length, size)
        self.block = Block(size, heads=2)
        self.head = nn.Linear(size, digits)

    def forward(self, x):
        return self.head(self.block(self.digit(x) + self.place.weight))


mt.manual_seed(0)
model = Reverser(digits=5, length=4, size=8)
optimizer = mt.optim.Adam(model.parameters(), lr=0.03)

for step in range(80):
    x = mt.randint(0, 5, (4, 4))
    scores = model(x).flatten(0, 1)
    loss = nn.functional.cross_entropy(scores, x.flip(1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"{step} {loss.item():.3f}")
