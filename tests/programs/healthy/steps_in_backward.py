import microtape as mt

mt.manual_seed(4)
x, y = mt.randn(20, 3), mt.randn(20, 1)
params = [mt.randn(3, 6, requires_grad=True), mt.randn(6, 1, requires_grad=True)]
optimizers = {p: mt.optim.SGD([p], lr=0.01, momentum=0.9) for p in params}


def update(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in params:
    p.register_post_accumulate_grad_hook(update)
for step in range(10):
    loss = ((x @ params[0]).tanh() @ params[1] - y).pow(2).mean()
    loss.backward()
print(loss.item())
