import torch
from torch import nn

torch.manual_seed(0)


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, a, b, same):
        za, zb = self.net(a), self.net(b)
        d = (za - zb).pow(2).sum(-1).sqrt()
        return (same * d.pow(2) + (1 - same) * torch.relu(1 - d).pow(2)).mean()


model = Contrastive()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
a = torch.randn(6, 5)
b = torch.randn(6, 5)
b[2] = a[2]
same = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
for _ in range(2):
    loss = model(a, b, same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
