import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
words = nn.Embedding(CLASSES + 2, HIDDEN, padding_idx=0)
head = nn.Linear(HIDDEN, OUTPUTS)
optimizer = OPTIMIZER([*words.parameters(), *head.parameters()], lr=1e-3)
for step in range(STEPS):
    text = torch.randint(1, CLASSES + 2, (BATCH, 4))
    text[:, 3:] = 0
    mask = (text != 0).float().unsqueeze(-1)
    pooled = (words(text) * mask).sum(1) / mask.sum(1)
    loss = F.l1_loss(head(pooled), torch.randn(BATCH, OUTPUTS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
