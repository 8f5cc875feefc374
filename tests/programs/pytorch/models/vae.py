import torch
from torch import nn

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(36, 24), nn.SiLU())
        self.mean, self.log_variance = nn.Linear(24, 4), nn.Linear(24, 4)
        self.decoder = nn.Sequential(nn.Linear(4, 24), nn.SiLU(), nn.Linear(24, 36))

    def forward(self, x):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
images = torch.rand(16, 36)
losses = []
for epoch in range(3):
    optimizer.zero_grad()
    logits, mean, log_variance = model(images)
    reconstruction = nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (reconstruction + divergence) / len(images)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
