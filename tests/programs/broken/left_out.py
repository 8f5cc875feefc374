import microtape as mt

mt.manual_seed(4)
x = mt.randn(40, 3)
y = x @ mt.tensor([1.0, -2.0, 0.5]) + 4.0
weight = mt.zeros(3, requires_grad=True)
bias = mt.tensor(0.0, requires_grad=True)
optimizer = mt.optim.AdamW([weight], lr=0.1)

for epoch in range(30):
    loss = ((x @ weight + bias - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), bias.item())
