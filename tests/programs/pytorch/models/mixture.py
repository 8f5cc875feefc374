import torch
from torch import nn

torch.manual_seed(0)


class Mixture(nn.Module):
    def __init__(self, width, experts, chosen):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)) for _ in range(experts)
        )
        self.chosen = chosen

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        weights, picks = shares.topk(self.chosen)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, places = (picks == number).nonzero(as_tuple=True)
            if len(rows):
                out.index_add_(0, rows, weights[rows, places, None] * expert(x[rows]))
        load = torch.zeros_like(shares).scatter(1, picks, 1.0).mean(0)
        return x + out, len(self.experts) * (load * shares.mean(0)).sum()


model = Mixture(8, experts=4, chosen=2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 8), torch.randn(24, 8)
losses = []
for step in range(3):
    optimizer.zero_grad()
    out, balance = model(x)
    loss = nn.functional.mse_loss(out, y) + 0.01 * balance
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
