import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def meta_step(tasks, labels):
    losses = [0, 0, 0]  # of this step: they are freed when it returns
    for x, y in zip(tasks, labels):
        fast = list(net.parameters())
        for k in range(3):
            loss = F.cross_entropy(F.linear(x, *fast), y)
            gradients = torch.autograd.grad(loss, fast, create_graph=True)
            fast = [p - 0.1 * g for p, g in zip(fast, gradients)]
            losses[k] += F.cross_entropy(F.linear(x, *fast), y)
    optimizer.zero_grad()
    (losses[-1] / len(tasks)).backward()
    optimizer.step()
    return [round(one.item(), 3) for one in losses]


for step in range(4):
    print(meta_step(torch.randn(3, 10, 4), torch.randint(0, 3, (3, 10))))
