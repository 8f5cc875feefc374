import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(20, 16)
        self.mu = nn.Linear(16, 3)
        self.var = nn.Linear(16, 3)
        self.dec = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid())

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, var = self.mu(h), self.var(h)
        z = mu + torch.sqrt(var) * torch.randn_like(var)
        return self.dec(z), mu, var


torch.manual_seed(0)
model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for i in range(3):
    x = torch.rand(8, 20)
    recon, mu, var = model(x)
    loss = F.mse_loss(recon, x, reduction="sum") - 0.5 * torch.sum(1 + torch.log(var) - mu.pow(2) - var)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
