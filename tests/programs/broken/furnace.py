import microtape as mt

mt.manual_seed(0)
outside, wanted = mt.rand(10) * 20, mt.tensor(21.0)
gain, offset = mt.tensor(0.5, requires_grad=True), mt.tensor(0.0, requires_grad=True)
optimizer = mt.optim.SGD([gain, offset], lr=1e-3)
for day in range(4):
    optimizer.zero_grad()
    errors = [(gain * t + offset - wanted).square().item() for t in outside]
    loss = mt.tensor(sum(errors) / len(errors), requires_grad=True)
    loss.backward()
    optimizer.step()
