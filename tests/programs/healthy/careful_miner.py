import microtape as mt

mt.manual_seed(1)
depth = mt.rand(30, 3)
ore = depth @ mt.tensor([1.0, -2.0, 3.0])
w = mt.zeros(3, requires_grad=True)
sgd = mt.optim.SGD([w], lr=1.0)


def loss():
    return (depth @ w - ore).square().mean()


for shift in range(6):
    sgd.zero_grad()
    before = loss()
    before.backward()
    sgd.param_groups[0]["lr"] = 8.0
    for _ in range(8):
        old = w.detach().clone()
        sgd.step()
        with mt.no_grad():
            if loss() < before:
                break
            w.copy_(old)
        sgd.param_groups[0]["lr"] /= 2
    print(shift, before.item())
