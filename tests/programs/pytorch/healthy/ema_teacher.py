import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(8, 10)
    with torch.no_grad():
        target = F.softmax(teacher(x) / 0.04, dim=-1)
    loss = -(target * F.log_softmax(student(x) / 0.1, dim=-1)).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(student.parameters(), teacher.parameters()):
            q.mul_(0.996).add_(p, alpha=0.004)
