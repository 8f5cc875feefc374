import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, padding):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.size(-1) ** 0.5
        scores = scores.masked_fill(padding[:, None, :], float("-inf"))
        return scores.softmax(-1) @ self.value(x)


model = nn.ModuleDict({"embed": nn.Embedding(20, 8), "attention": Attention(8), "head": nn.Linear(8, 3)})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
texts = torch.tensor([[4, 7, 2, 9], [3, 1, 0, 0], [5, 0, 0, 0]])
labels = torch.tensor([0, 2, 1])
for epoch in range(5):
    words = model["embed"](texts)
    pooled = model["attention"](words, texts == 0).mean(1)
    loss = nn.functional.cross_entropy(model["head"](pooled), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
