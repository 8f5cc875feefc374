import microtape as mt

mt.manual_seed(2)
epochs = 15
x = mt.randn(30, 2)
y = x.sum(1) - 0.5
w = mt.zeros(2, requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)
optimizer = mt.optim.SGD([w, b], lr=0.2)
scheduler = mt.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: epoch // epochs)

for epoch in range(epochs):
    optimizer.zero_grad()
    loss = (x @ w + b - y).abs().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(loss.item(), w.tolist())
