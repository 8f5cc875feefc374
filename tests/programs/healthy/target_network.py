import microtape as mt

states = mt.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
following = mt.tensor([[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]])
rewards = mt.tensor([0.0, 0.2, 1.0])
online = mt.tensor([[0.1, 0.2], [0.3, 0.0]], requires_grad=True)
target = online.detach().clone()

for step in range(12):
    q = (states @ online).amax(dim=1)
    with mt.no_grad():
        goal = rewards + 0.9 * (following @ target).amax(dim=1)
    loss = ((q - goal) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        online -= 0.2 * online.grad
        target.mul_(0.9).add_(0.1 * online)
    online.grad = None
print(online, target)
