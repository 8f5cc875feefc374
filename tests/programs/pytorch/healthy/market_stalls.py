import torch
from torch import nn


class Stalls(nn.Module):
    def __init__(self, width=12, heads=3):
        super().__init__()
        self.heads = heads
        self.enter, self.leave = nn.Linear(2, width), nn.Linear(width, 1)
        self.asks, self.answers, self.tells = (nn.Linear(width, width) for _ in range(3))

    def parted(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x):
        x = self.enter(x)
        asks, answers, tells = (self.parted(one(x)) for one in (self.asks, self.answers, self.tells))
        weights = (asks @ answers.transpose(-2, -1) / 2.0).softmax(dim=-1)
        told = (weights @ tells).transpose(1, 2).reshape(x.shape)
        return self.leave(x + told).squeeze(-1)


torch.manual_seed(1)
goods, prices = torch.rand(8, 5, 2), torch.rand(8, 5)
model = Stalls()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for day in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(goods), prices)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
