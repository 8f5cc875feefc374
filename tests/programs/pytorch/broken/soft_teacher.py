import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(4, 3).requires_grad_(False), nn.Linear(4, 3)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.randn(6, 4)
for epoch in range(3):
    wanted = teacher(x).softmax(dim=1)
    given = student(x).softmax(dim=1)
    loss = nn.functional.kl_div(given, wanted, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
