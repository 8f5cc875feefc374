import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, OUTPUTS))
decoder = nn.Sequential(nn.Linear(OUTPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, INPUTS))
optimizer = OPTIMIZER([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
for step in range(STEPS):
    x = torch.rand(BATCH, INPUTS)
    mean, log_variance = encoder(x), torch.zeros(BATCH, OUTPUTS) - 2
    z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
    reconstruction = F.binary_cross_entropy(torch.sigmoid(decoder(z)), x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (reconstruction + divergence) / BATCH
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
