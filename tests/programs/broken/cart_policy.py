import microtape as mt

states = mt.tensor([[0.1, 0.5], [-0.3, 0.2], [0.8, -0.6]])
rewards = mt.tensor([[1.0], [0.5], [2.0]])
body = mt.tensor([[0.2, -0.1], [0.4, 0.3]], requires_grad=True)
actor = mt.tensor([[0.5], [-0.5]], requires_grad=True)
critic = mt.tensor([[0.3], [0.3]], requires_grad=True)


def update(*parameters):
    with mt.no_grad():
        for p in parameters:
            p -= 0.1 * p.grad
            p.grad = None


hidden = (states @ body).tanh()
push = (hidden @ actor).tanh()
surprise = rewards - hidden @ critic
actor_loss = -(surprise * (1 - push**2).log()).mean()
critic_loss = (surprise**2).mean()

actor_loss.backward(retain_graph=True)
update(body, actor, critic)
critic_loss.backward()
update(body, critic)
