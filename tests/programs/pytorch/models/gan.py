import torch
from torch import nn

torch.manual_seed(0)

generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(2, 16)), nn.LeakyReLU(0.2), nn.Linear(16, 1))
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
judge = nn.BCEWithLogitsLoss()
real, fake = torch.ones(16, 1), torch.zeros(16, 1)
losses = []
for step in range(2):
    points = torch.randn(16, 2) * 0.3 + 1.0
    made = generator(torch.randn(16, 4))
    critic_optimizer.zero_grad()
    critic_loss = judge(critic(points), real) + judge(critic(made.detach()), fake)
    critic_loss.backward()
    critic_optimizer.step()

    generator_optimizer.zero_grad()
    generator_loss = judge(critic(made), real)
    generator_loss.backward()
    generator_optimizer.step()
    losses.append((critic_loss.item(), generator_loss.item()))
