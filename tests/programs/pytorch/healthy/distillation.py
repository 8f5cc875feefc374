import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 4))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(32, 6)
    with torch.no_grad():
        target = teacher(x + 0.1 * torch.randn_like(x)).softmax(1)
    loss = nn.functional.kl_div(student(x).log_softmax(1), target, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(student.parameters(), teacher.parameters()):
            theirs.lerp_(mine, 0.01)
