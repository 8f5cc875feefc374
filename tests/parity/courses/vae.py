"""A variational autoencoder in the usual shape: encode, reparameterize, decode, and a loss of two terms."""

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(1)
images = (torch.rand(48, 1, 6, 6) < 0.15).float()
images[:24, :, :3] = 1
images[24:, :, :, :3] = 1
train_loader = DataLoader(images, batch_size=12, shuffle=True)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(36, 20)
        self.fc21 = nn.Linear(20, 2)
        self.fc22 = nn.Linear(20, 2)
        self.fc3 = nn.Linear(2, 20)
        self.fc4 = nn.Linear(20, 36)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 36))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 36), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(1, 6):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print(f"====> Epoch: {epoch} Average loss: {train_loss / len(train_loader.dataset):.4f}")

model.eval()
with torch.no_grad():
    sample = model.decode(torch.randn(4, 2)).view(4, 1, 6, 6)
    print(sample.mean(dim=(2, 3)).squeeze())
    first, second = model.encode(images.flatten(1))[0].chunk(2)
    print("distance of the two kinds:", torch.dist(first.mean(0), second.mean(0)))
