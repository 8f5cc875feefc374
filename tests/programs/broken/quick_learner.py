import microtape as mt

mt.manual_seed(0)
slope, offset = mt.randn(1, requires_grad=True), mt.zeros(1, requires_grad=True)
meta = mt.optim.SGD([slope, offset], lr=0.01)


def error(weights, task):
    x = mt.randn(8)
    return ((weights[0] * x + weights[1] - task * x) ** 2).mean()


for _ in range(3):
    meta.zero_grad()
    total = mt.zeros(())
    for task in (0.5, 1.0, 2.0):
        grads = mt.autograd.grad(error((slope, offset), task), (slope, offset))
        fast = [(w - 0.1 * g).detach().requires_grad_() for w, g in zip((slope, offset), grads)]
        total = total + error(fast, task)
    total.backward()
    meta.step()
