import microtape as mt

sentences = mt.linspace(-1.0, 1.0, 18).reshape(2, 3, 3)
present = mt.tensor([[True, True, True], [False, False, False]])
target = mt.zeros(2, 3, 3)
Q = (mt.eye(3) * 0.7).requires_grad_()
K = (mt.eye(3) * 0.4).requires_grad_()
V = mt.eye(3, requires_grad=True)

for epoch in range(4):
    scores = (sentences @ Q) @ (sentences @ K).transpose(1, 2)
    attention = scores.masked_fill(~present[:, None, :], float("-inf")).softmax(dim=-1)
    read = attention @ (sentences @ V)
    loss = (read - target).square().mean()
    loss.backward()
    for p in (Q, K, V):
        p.data -= 0.1 * p.grad
        p.grad = None
    print(epoch, loss.item())
