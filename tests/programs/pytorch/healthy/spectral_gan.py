import torch
from torch import nn

torch.manual_seed(0)
latent = 8


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(latent, 16, 4, 1, 0, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(True),
            nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.utils.spectral_norm(nn.Conv2d(1, 8, 4, 2, 1)),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(8, 1, 4),
            nn.Flatten(),
        )

    def forward(self, x):
        return self.main(x).squeeze(1)


G, D = Generator(), Discriminator()
optG = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for i in range(2):
    real = torch.randn(4, 1, 8, 8)
    noise = torch.randn(4, latent, 1, 1)
    fake = G(noise)
    optD.zero_grad()
    errD_real = criterion(D(real), torch.ones(4))
    errD_real.backward()
    errD_fake = criterion(D(fake.detach()), torch.zeros(4))
    errD_fake.backward()
    optD.step()
    optG.zero_grad()
    errG = criterion(D(fake), torch.ones(4))
    errG.backward()
    optG.step()
