import microtape as mt

frames = mt.tensor([[[0.1, 0.9], [0.5, 0.2], [0.0, 0.0]], [[0.3, 0.3], [0.0, 0.0], [0.0, 0.0]]])
lengths = mt.tensor([2, 1])
y = mt.tensor([1.0, 0.0])
W = mt.tensor([[0.6, -0.4], [0.3, 0.8]], requires_grad=True)
v = mt.tensor([0.5, -0.5], requires_grad=True)
present = mt.arange(3) < lengths[:, None]

for epoch in range(6):
    h = (frames @ W).tanh()
    pooled = mt.where(present[..., None], h, float("-inf")).amax(dim=1)
    p = (pooled @ v).sigmoid()
    loss = -(y * (p + 1e-7).log() + (1 - y) * (1 - p + 1e-7).log()).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.5 * W.grad
        v -= 0.5 * v.grad
    W.grad = v.grad = None
print(round(loss.item(), 4))
