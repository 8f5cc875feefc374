import torch
from torch import nn

torch.manual_seed(0)


class LowRank(nn.Module):
    def __init__(self, base, rank=2, scale=2.0):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) * 0.02)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = scale

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.down.T) @ self.up.T


model = nn.Sequential(nn.Embedding(30, 16), nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 30))
for parameter in model.parameters():
    parameter.requires_grad_(False)
model[1], model[4] = LowRank(model[1]), LowRank(model[4])
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-2)
tokens = torch.randint(30, (4, 7))
losses = []
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
