import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, HIDDEN, 3, padding=1),
    nn.BatchNorm2d(HIDDEN),
    ACTIVATION(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(4 * HIDDEN, CLASSES),
)
optimizer = OPTIMIZER(model.parameters(), lr=1e-3)
for step in range(STEPS):
    images, labels = torch.randn(BATCH, 1, 4, 4), torch.randint(0, CLASSES, (BATCH,))
    loss = F.cross_entropy(model(images), labels)
    (loss / 2).backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
