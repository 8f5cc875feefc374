import torch
from torch import nn

torch.manual_seed(0)
text = torch.randint(0, 12, (200,))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(12, 16), nn.Embedding(10, 16)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(2)])
        self.out = nn.Linear(16, 12)

    def forward(self, seen):
        size = seen.shape[1]
        hidden = torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)
        x = self.words(seen) + self.places(torch.arange(size))
        for layer in self.layers:
            x = layer(x, src_mask=hidden)
        return self.out(x)


reader = Reader()
optimizer = torch.optim.AdamW(reader.parameters(), lr=0.003)
for step in range(4):
    start = torch.randint(0, 180, (8,)).tolist()
    batch = torch.stack([text[i : i + 11] for i in start])
    scores = reader(batch[:, :-1])
    loss = nn.functional.cross_entropy(scores.reshape(-1, 12), batch[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
