import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
teacher = copy.deepcopy(student)
opt = torch.optim.AdamW(student.parameters(), lr=1e-3)


def follow(decay=0.996):
    for p, q in zip(student.parameters(), teacher.parameters()):
        q.data.mul_(decay).add_(p.data, alpha=1 - decay)


for step in range(3):
    x = torch.randn(8, 10)
    target = F.softmax(teacher(x) / 0.04, dim=-1)
    loss = -(target * F.log_softmax(student(x) / 0.1, dim=-1)).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    follow()
