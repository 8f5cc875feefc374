import microtape as mt

mt.manual_seed(0)
first, second = mt.nn.Linear(2, 4, bias=False), mt.nn.Linear(4, 1)
mt.nn.init.ones_(first.weight)
mt.nn.init.ones_(second.weight)
optimizer = mt.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
x, y = mt.rand(8, 2), mt.rand(8, 1)
for epoch in range(4):
    out = second(first(x).sigmoid())
    loss = mt.nn.functional.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
