import microtape as mt

mt.manual_seed(3)
gain, offset = mt.tensor(0.3, requires_grad=True), mt.tensor(0.0, requires_grad=True)
slope, cut = mt.tensor(0.5, requires_grad=True), mt.tensor(0.0, requires_grad=True)
maker = mt.optim.Adam([gain, offset], lr=0.05, betas=(0.5, 0.999))
judge = mt.optim.Adam([slope, cut], lr=0.05, betas=(0.5, 0.999))
bce = mt.nn.functional.binary_cross_entropy_with_logits

for step in range(15):
    real, fake = 2 + mt.randn(16), offset + gain * mt.randn(16)
    judge.zero_grad()
    loss = bce(slope * real + cut, mt.ones(16)) + bce(slope * fake.detach() + cut, mt.zeros(16))
    loss.backward()
    judge.step()

    maker.zero_grad()
    fooled = bce(slope * fake + cut, mt.ones(16))
    fooled.backward()
    maker.step()
print(round(loss.item(), 3), round(fooled.item(), 3))
