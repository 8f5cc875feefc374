import microtape as mt

film = mt.linspace(0.1, 1.2, 12).reshape(3, 4)
gain = mt.tensor([1.0, 0.9, 1.1, 1.0], requires_grad=True)
offset = mt.tensor(0.05, requires_grad=True)


def without_first(frames):
    first = frames.narrow(0, 0, 1)
    first.mul_(0.0)
    return frames


for epoch in range(3):
    frames = film * gain + offset
    motion = without_first(frames)[1:] - frames[:-1]
    loss = motion.square().mean() + (frames - film).square().mean()
    loss.backward()
    with mt.no_grad():
        gain -= 0.1 * gain.grad
        offset -= 0.1 * offset.grad
    gain.grad = offset.grad = None
    print(epoch, round(loss.item(), 4))
