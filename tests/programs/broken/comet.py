import microtape as mt

dt = 0.1
pull = mt.tensor(1.0, requires_grad=True)
start = mt.tensor([1.0, 0.0], requires_grad=True)
observed_path = 1.2

for attempt in range(3):
    position, velocity = start * 1.0, mt.tensor([0.0, 1.0])
    length = mt.tensor(0.0)
    for step in range(12):
        before = position[:]
        velocity = velocity - dt * pull * position.clone()
        position += dt * velocity
        length = length + (position - before).abs().sum()
    loss = (length - observed_path) ** 2 + ((position - start) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        for p in (pull, start):
            p -= 0.05 * p.grad
            p.grad = None
    print(f"length {length.item():.3f}")
