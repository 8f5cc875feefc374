import microtape as mt

mt.manual_seed(5)
start = mt.nn.Linear(2, 1)
optimizer = mt.optim.Adam(start.parameters(), lr=0.01)


def rises():
    """How far the dough of one bakery rises, by flour and warmth."""
    taste = mt.randn(2, 1)
    flour = mt.rand(12, 2)
    return flour, mt.sin(flour @ taste)


def hand_over(local):
    """Add the gradients of a local oven to those of the start."""
    for p, q in zip(start.parameters(), local.parameters(), strict=True):
        p.grad = q.grad if p.grad is None else p.grad + q.grad


for day in range(4):
    optimizer.zero_grad()
    for bakery in range(3):
        flour, height = rises()
        local = mt.nn.Linear(2, 1)
        local.load_state_dict(start.state_dict())
        inner = mt.optim.SGD(local.parameters(), lr=0.1)
        mt.nn.functional.mse_loss(local(flour[:6]), height[:6]).backward()
        inner.step()
        inner.zero_grad()
        loss = mt.nn.functional.mse_loss(local(flour[6:]), height[6:])
        loss.backward()
        hand_over(local)
    optimizer.step()
    print(day, loss.item())
