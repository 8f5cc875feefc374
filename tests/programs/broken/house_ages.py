import microtape as mt

mt.manual_seed(0)
model = mt.nn.Sequential(mt.nn.Linear(3, 8), mt.nn.Tanh(), mt.nn.Linear(8, 1))
optimizer = mt.optim.SGD(model.parameters(), lr=0.05)
houses = mt.randn(24, 3)
ages = houses.sum(dim=1)

for epoch in range(4):
    loss = mt.nn.functional.mse_loss(model(houses), ages)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
