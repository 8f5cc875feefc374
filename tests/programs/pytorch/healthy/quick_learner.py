import torch

torch.manual_seed(0)
slope, offset = torch.randn(1, requires_grad=True), torch.zeros(1, requires_grad=True)
meta = torch.optim.SGD([slope, offset], lr=0.01)


def error(weights, task):
    x = torch.randn(8)
    return ((weights[0] * x + weights[1] - task * x) ** 2).mean()


for _ in range(3):
    meta.zero_grad()
    total = torch.zeros(())
    for task in (0.5, 1.0, 2.0):
        grads = torch.autograd.grad(error((slope, offset), task), (slope, offset))
        fast = [w - 0.1 * g for w, g in zip((slope, offset), grads)]
        total = total + error(fast, task)
    total.backward()
    meta.step()
