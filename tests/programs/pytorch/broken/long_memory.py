import torch
from torch import nn

torch.manual_seed(0)


class Memory(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.recurrent = nn.Parameter(torch.randn(width, width))
        self.read = nn.Linear(width, 1)

    def forward(self, x):
        h = x[0]
        for t in range(1, len(x)):
            h = x[t] + h @ self.recurrent
        return self.read(h)


model = Memory(16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
series, target = torch.randn(30, 4, 16), torch.randn(4, 1)
for epoch in range(3):
    loss = (model(series) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
