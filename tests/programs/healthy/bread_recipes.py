import microtape as mt

mt.manual_seed(1)
mix = mt.zeros(4, requires_grad=True)
oven, trial = mt.nn.Linear(4, 1), mt.nn.Linear(4, 1)
mix_optimizer = mt.optim.Adam([mix], lr=0.01)
oven_optimizer = mt.optim.SGD(oven.parameters(), lr=0.05)
flours, taste = mt.rand(10, 4), mt.rand(10, 1)


def loss_of(baked_by, mixed):
    return (baked_by(flours * mixed.softmax(0)) - taste).square().mean()


for day in range(8):
    mix_optimizer.zero_grad()
    if day % 2:
        trial.load_state_dict(oven.state_dict())
        tried = mix.detach().clone().requires_grad_()
        loss_of(trial, tried).backward()
        mix.grad = tried.grad.clone()
    else:
        loss_of(oven, mix).backward()
    mix_optimizer.step()

    oven_optimizer.zero_grad()
    loss = loss_of(oven, mix)
    loss.backward()
    oven_optimizer.step()
    print(day, loss.item())
