import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(INPUTS, HIDDEN), nn.LayerNorm(HIDDEN), ACTIVATION(), nn.Dropout(0.1), nn.Linear(HIDDEN, CLASSES)
)
optimizer = OPTIMIZER(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for epoch in range(STEPS):
    model.train()
    x, labels = torch.randn(BATCH, INPUTS), torch.randint(0, CLASSES, (BATCH,))
    loss = F.cross_entropy(model(x), labels, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == labels).float().mean().item()
