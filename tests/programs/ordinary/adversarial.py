import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(OUTPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, INPUTS))
judge = nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.LeakyReLU(0.2), nn.Linear(HIDDEN, 1))
of_maker, of_judge = OPTIMIZER(maker.parameters(), lr=1e-3), OPTIMIZER(judge.parameters(), lr=1e-3)
for step in range(STEPS):
    real, fake = torch.randn(BATCH, INPUTS) + 1, maker(torch.randn(BATCH, OUTPUTS))
    on_real = F.binary_cross_entropy_with_logits(judge(real), torch.ones(BATCH, 1))
    on_fake = F.binary_cross_entropy_with_logits(judge(fake.detach()), torch.zeros(BATCH, 1))
    of_judge.zero_grad()
    (on_real + on_fake).backward()
    of_judge.step()
    loss = F.binary_cross_entropy_with_logits(judge(fake), torch.ones(BATCH, 1))
    of_maker.zero_grad()
    loss.backward()
    of_maker.step()
