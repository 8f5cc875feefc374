import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(3, 1)
optimizer = mt.optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    for batch in range(5):  # the first ones have too little noise to learn from
        x = mt.randn(8, 3) * (batch + 1)
        optimizer.zero_grad()
        loss = (model(x) - x[:, :1]).pow(2).mean()
        loss.backward()
        if batch > step % 3:
            break
    optimizer.step()
