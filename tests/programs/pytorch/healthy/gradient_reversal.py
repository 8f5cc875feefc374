import torch
from torch import nn
from torch.nn import functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


torch.manual_seed(0)
body, labels, domains = nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(3, 2)
optimizer = torch.optim.SGD([p for one in (body, labels, domains) for p in one.parameters()], lr=0.1)
x, y, domain = torch.randn(8, 4), torch.randint(0, 2, (8,)), torch.randint(0, 2, (8,))
for epoch in range(3):
    features = body(x).tanh()
    loss = F.cross_entropy(labels(features), y)
    loss = loss + F.cross_entropy(domains(Reverse.apply(features, 0.5)), domain)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
