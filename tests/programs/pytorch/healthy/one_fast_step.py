import torch
from torch.nn import functional as F

torch.manual_seed(0)
W = torch.nn.Parameter(torch.randn(5, 4))
optimizer = torch.optim.SGD([W], lr=0.1)
for step in range(12):
    x, y = torch.randn(10, 4), torch.randint(0, 5, (10,))
    w = [W]
    (gradient,) = torch.autograd.grad(F.cross_entropy(F.linear(x, *w), y), w)
    w = [p - 0.1 * g for p, g in zip(w, [gradient])]
    loss = F.cross_entropy(F.linear(x, *w), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
