import microtape as mt

states = mt.tensor([[0.1, 0.4], [0.5, -0.2], [0.9, 0.3], [-0.4, 0.8]])
returns = mt.tensor([1.0, 0.3, 2.0, 0.5])
actions = mt.tensor([0, 1, 0, 1])
policy = mt.tensor([[0.1, 0.0], [0.2, -0.1]], requires_grad=True)
critic = mt.tensor([[0.5], [0.5]], requires_grad=True)

for episode in range(5):
    values = states @ critic
    log_p = (states @ policy).log_softmax(dim=1)[mt.arange(4), actions]
    advantage = returns - values
    loss = -(log_p * advantage.detach()).mean() + (advantage**2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (policy, critic):
            p -= 0.1 * p.grad
            p.grad = None
    print(f"{episode}: {loss.item():.4f}")
