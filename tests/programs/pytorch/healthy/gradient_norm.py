import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
unused = torch.ones(2, requires_grad=True)
x = torch.randn(8, 3)
h = x @ w + b
h.retain_grad()
loss = h.sigmoid().log().mean()
g = torch.autograd.grad(loss, [w, unused], create_graph=True, allow_unused=True)
penalty = g[0].pow(2).sum()
(loss + penalty).backward()
print(h.grad)
