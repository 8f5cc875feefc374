import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(3, 1)
optimizer = mt.optim.SGD(model.parameters(), lr=0.05)
for batch in range(12):
    x = mt.randn(8, 3)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    if batch in (1, 4, 6, 9, 11):  # the others show how large the gradients are
        optimizer.step()
