import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
filters = nn.Conv2d(3, HIDDEN, 3, padding=1)
for p in filters.parameters():
    p.requires_grad_(False)
picture = torch.rand(1, 3, 8, 8).requires_grad_()
optimizer = OPTIMIZER([picture], lr=1e-2)


def gram(image):
    f = F.relu(filters(image)).flatten(2)
    return f @ f.transpose(1, 2) / f.shape[-1]


wanted = gram(torch.rand(1, 3, 8, 8))
for step in range(STEPS):
    loss = F.mse_loss(gram(picture), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
