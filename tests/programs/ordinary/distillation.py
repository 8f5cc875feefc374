import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, CLASSES))
student = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, CLASSES))
for p in teacher.parameters():
    p.requires_grad = False
optimizer = OPTIMIZER(student.parameters(), lr=1e-3)
for step in range(STEPS):
    x, labels = torch.randn(BATCH, INPUTS), torch.randint(0, CLASSES, (BATCH,))
    with torch.no_grad():
        taught = F.softmax(teacher(x) / 2, dim=1)
    scores = student(x)
    soft = F.kl_div(F.log_softmax(scores / 2, dim=1), taught, reduction="batchmean") * 4
    loss = 0.5 * soft + 0.5 * F.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
