import microtape as mt

mt.manual_seed(5)
x = 10 * mt.randn(50, 6)
y = x.sum(1, keepdim=True)
W = mt.randn(6, 1, requires_grad=True)
optimizer = mt.optim.SGD([W], lr=0.1)
scheduler = mt.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)

for epoch in range(15):
    optimizer.zero_grad()
    loss = ((x @ W - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(epoch, loss.item())
