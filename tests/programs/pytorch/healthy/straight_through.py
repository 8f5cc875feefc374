import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(10, 4), nn.Linear(4, 10)
codebook = nn.Parameter(torch.randn(16, 4))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), codebook], lr=1e-3)
x = torch.randn(20, 10)
for step in range(3):
    z = encoder(x)
    nearest = torch.cdist(z, codebook).argmin(1)
    chosen = codebook[nearest]
    passed = z + (chosen - z).detach()
    commitment = (chosen - z.detach()).pow(2).mean() + 0.25 * (z - chosen.detach()).pow(2).mean()
    loss = nn.functional.mse_loss(decoder(passed), x) + commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
