import torch
from torch import nn


class Titles(nn.Module):
    def __init__(self, words=20, width=6):
        super().__init__()
        self.table, self.reader = nn.Embedding(words, width), nn.GRU(width, width, bidirectional=True, batch_first=True)
        self.judge = nn.Linear(2 * width, 3)

    def forward(self, titles):
        _, state = self.reader(self.table(titles))
        state = state.view(titles.size(0), -1)
        return self.judge(state)


torch.manual_seed(5)
titles, moods = torch.randint(0, 20, (10, 4)), torch.randint(0, 3, (10,))
model = Titles()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(4):
    loss = nn.functional.cross_entropy(model(titles), moods)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
