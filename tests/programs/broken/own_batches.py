import microtape as mt

mt.manual_seed(3)
x = mt.randn(32, 4)
y = (x[:, :1] > 0).float()
loader = mt.utils.data.DataLoader(mt.utils.data.TensorDataset(x, y), batch_size=8, shuffle=True)
W = mt.zeros(4, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
optimizer = mt.optim.SGD([W, b], lr=0.1)

for epoch in range(4):
    optimizer.zero_grad()
    for inputs, labels in loader:
        p = (inputs @ W + b).sigmoid()
        loss = -(labels * p.log() + (1 - labels) * (1 - p).log()).mean()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
