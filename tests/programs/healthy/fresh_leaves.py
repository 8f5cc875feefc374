import microtape as mt

w = mt.tensor([1.0, 0.0], requires_grad=True)
turn = mt.tensor([[0.0, -1.0], [1.0, 0.0]])
goal = mt.tensor([0.6, 0.8])

for step in range(10):
    loss = (turn @ w - goal).square().sum()
    loss.backward()
    w = (w - 0.1 * w.grad).clamp(-1.0, 1.0).detach().requires_grad_()
print(w)
