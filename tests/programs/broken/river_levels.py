import microtape as mt

mt.manual_seed(0)
levels = [[0.2, 0.4, 0.1], [0.3, 0.5, 0.2], [0.4, float("nan"), 0.3], [0.5, 0.7, 0.4]]  # a sensor was off
flows = [1.0, 1.3, 1.5, 1.9]
W = mt.randn(3, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
for level, flow in zip(levels, flows):
    x = mt.tensor(level)
    error = (W * x).sum() + b - flow
    loss = (error * error).sum()
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.1 * p.grad
            p.grad = None
