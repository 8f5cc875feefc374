import torch
from torch import nn

torch.manual_seed(5)


class Minter(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, input):
        return self.main(input)


class Assayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, coins):
        return self.main(coins)


minter, assayer, criterion = Minter(), Assayer(), nn.BCEWithLogitsLoss()
minting, assaying = torch.optim.Adam(minter.parameters(), 1e-3), torch.optim.Adam(assayer.parameters(), 1e-3)
for day in range(4):
    assayer.zero_grad()
    fake = minter(torch.randn(6, 4))
    criterion(assayer(torch.rand(6, 3) + 1), torch.ones(6, 1)).backward()
    criterion(assayer(fake), torch.zeros(6, 1)).backward()
    assaying.step()
    minter.zero_grad()
    criterion(assayer(fake), torch.ones(6, 1)).backward()
    minting.step()
