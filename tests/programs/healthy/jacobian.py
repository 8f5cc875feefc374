import microtape as mt

joints = mt.tensor([0.3, 0.5, -0.2], requires_grad=True)
goal = mt.tensor([1.5, 1.2])

for step in range(5):
    angles = joints.cumsum(0)
    hand = mt.stack([angles.cos().sum(), angles.sin().sum()])
    rows = [mt.autograd.grad(hand[i], joints, retain_graph=True)[0] for i in range(2)]
    J = mt.stack(rows)
    error = goal - hand.detach()
    with mt.no_grad():
        joints += 0.05 * (J.t() @ error)
    print(step, round(error.norm().item(), 4))
