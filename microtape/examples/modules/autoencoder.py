import microtape as mt

# A VAE (Kingma and Welling, 2014): a variational autoencoder learns a circle.
#
# Look at: the sample z = mean + deviation * noise, through which the gradient
# passes into both, and the loss, whose second term reaches the encoder alone.

nn = mt.nn


class Autoencoder(nn.Module):
    def __init__(self, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(2, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 2 * latent),
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        z = mean + (0.5 * log_variance).exp() * mt.randn(mean.shape)
        return self.decoder(z), mean, log_variance


mt.manual_seed(0)
model = Autoencoder(hidden=16, latent=1)
optimizer = mt.optim.Adam(model.parameters(), lr=0.02)

for step in range(60):
    angle = 6.2832 * mt.rand(32, 1)
    x = mt.cat([angle.cos(), angle.sin()], dim=1)
    again, mean, log_variance = model(x)
    distance = (again - x).pow(2).sum(1).mean()
    excess = mean.pow(2) + log_variance.exp() - 1 - log_variance
    divergence = 0.5 * excess.sum(1).mean()
    loss = distance + 0.05 * divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"{step} {distance.item():.3f} {divergence.item():.3f}")
