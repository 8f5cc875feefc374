import microtape as mt

pixels = mt.tensor([0.3, 0.5, 0.8, 0.9])
wanted = mt.tensor([0.1, 0.3, 0.6, 0.7])
gain = mt.tensor(4.0, requires_grad=True)
offset = mt.tensor(0.5, requires_grad=True)


def develop(pixels):
    return (gain * pixels + offset).clamp(0.0, 1.0)


for epoch in range(15):
    loss = (develop(pixels) - wanted).square().mean()
    loss.backward()
    with mt.no_grad():
        for p in (gain, offset):
            p -= 0.5 * p.grad
            p.grad = None
print(gain.item(), offset.item())
