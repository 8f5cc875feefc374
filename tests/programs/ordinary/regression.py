import torch
from torch import nn

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, OUTPUTS)
)
optimizer = OPTIMIZER(model.parameters(), lr=1e-3)
x = torch.randn(BATCH, INPUTS)
y = torch.randn(BATCH, OUTPUTS)
for step in range(STEPS):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
