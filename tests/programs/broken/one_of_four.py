import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(4, 1)
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
for i, batch in enumerate(mt.randn(12, 5, 4)):
    optimizer.zero_grad()
    loss = (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
