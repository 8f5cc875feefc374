import microtape as mt


def rms_norm(x):
    return x * (x * x).mean(dim=1, keepdim=True).rsqrt()


tokens = mt.tensor([[0.4, -0.3, 0.1], [0.0, 0.0, 0.0], [0.7, 0.2, -0.5]])
target = mt.tensor([[1.0], [0.0], [1.0]])
W = (mt.eye(3) * 0.5).requires_grad_()
head = mt.ones(3, 1, requires_grad=True)

for epoch in range(2):
    normed = rms_norm(tokens @ W)
    loss = ((normed @ head).sigmoid() - target).square().sum()
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
        head -= 0.1 * head.grad
    W.grad = head.grad = None
    print(loss.item())
