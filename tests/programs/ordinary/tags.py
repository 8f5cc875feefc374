import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
body, head = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, OUTPUTS)
optimizer = OPTIMIZER([*body.parameters(), *head.parameters()], lr=1e-3)
for step in range(STEPS):
    x, tags = torch.randn(BATCH, INPUTS), torch.randint(0, 2, (BATCH, OUTPUTS)).float()
    optimizer.zero_grad()
    loss = F.binary_cross_entropy_with_logits(head(ACTIVATION()(body(x))), tags)
    loss.backward()
    optimizer.step()
