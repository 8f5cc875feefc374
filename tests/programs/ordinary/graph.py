import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
first, second = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, CLASSES)
optimizer = OPTIMIZER([*first.parameters(), *second.parameters()], lr=1e-3)
links = (torch.rand(BATCH, BATCH) > 0.5).float() + torch.eye(BATCH)
links = links / links.sum(1, keepdim=True)
x, labels = torch.randn(BATCH, INPUTS), torch.randint(0, CLASSES, (BATCH,))
known = torch.arange(BATCH) % 2 == 0
for step in range(STEPS):
    scores = F.log_softmax(links @ second(ACTIVATION()(links @ first(x))), dim=1)
    loss = F.nll_loss(scores[known], labels[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
