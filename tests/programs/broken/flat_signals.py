import microtape as mt

mt.manual_seed(0)
signals = mt.randn(5, 8)
signals[3] = 0.5  # a sensor that hangs
gain = mt.ones(8, requires_grad=True)
w = (0.4 * mt.randn(8)).requires_grad_()
target = mt.randn(5)
optimizer = mt.optim.Adam([gain, w], lr=0.01)

for step in range(5):
    x = signals * gain
    centred = x - x.mean(dim=1, keepdim=True)
    spread = centred.pow(2).mean(dim=1, keepdim=True)
    scaled = centred * (spread + 1e-14).rsqrt()
    loss = ((scaled @ w - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
