import microtape as mt

mt.manual_seed(0)
x = mt.randn(60, 2)
y = x @ mt.tensor([[2.0], [-3.4]]) + 4.2 + 0.01 * mt.randn(60, 1)
train, test = mt.utils.data.random_split(mt.utils.data.TensorDataset(x, y), [0.8, 0.2])
loader = mt.utils.data.DataLoader(train, batch_size=12, shuffle=True)
w = (0.01 * mt.randn(2, 1)).requires_grad_()
b = mt.zeros(1, requires_grad=True)
optimizer = mt.optim.SGD([w, b], lr=0.1)

for epoch in range(6):
    for inputs, targets in loader:
        loss = ((inputs @ w + b - targets) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with mt.no_grad():
        inputs, targets = test[:]
        print(epoch, ((inputs @ w + b - targets) ** 2).mean().item())
