import microtape as mt

mt.manual_seed(0)
x = mt.randn(24, 3)
y = x @ mt.tensor([[0.5], [-1.0], [2.0]])
W = mt.zeros(3, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
optimizer = mt.optim.Adam([W, b], lr=0.1)

for epoch in range(12):
    optimizer.zero_grad()
    loss = ((x @ W + b - y) ** 2).mean()
    optimizer.step()
    loss.backward()
    print(epoch, loss.item())
