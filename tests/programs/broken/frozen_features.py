import microtape as mt

mt.manual_seed(6)
x = mt.randn(30, 5)
y = x[:, :2].prod(1, keepdim=True)
features = (0.5 * mt.randn(5, 8)).requires_grad_()
head = (0.5 * mt.randn(8, 1)).requires_grad_()
optimizer = mt.optim.RMSprop([features, head], lr=0.01)

for epoch in range(10):
    with mt.no_grad():
        hidden = (x @ features).tanh()
    loss = ((hidden @ head - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 4))
