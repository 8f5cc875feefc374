import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.weight


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict(
            {
                "table": nn.Embedding(5, 4),
                "scale": Scale(),
            }
        )

    def forward(self, x):
        return self.parts["scale"](nn.functional.one_hot(x, 5)[:, :4].float())


torch.manual_seed(0)
words = Words()
optimizer = torch.optim.SGD(words.parameters(), lr=0.1)
letters, y = torch.randint(5, (12,)), torch.randn(12, 4)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(words(letters), y)
    loss.backward()
    optimizer.step()
