import microtape as mt

mt.manual_seed(0)
nn = mt.nn
days, size = 6, 8
ask, offer, trade = (nn.Linear(size, size) for _ in range(3))
head = nn.Linear(size, 1)
parameters = [one for layer in (ask, offer, trade, head) for one in layer.parameters()]
optimizer = mt.optim.Adam(parameters, lr=0.01)
diary = mt.randn(5, days, size)
price = diary[:, :, :1].cumsum(1)
past = mt.tril(mt.ones(days, days))
for week in range(4):
    scores = ask(diary) @ offer(diary).transpose(1, 2) * size**-0.5
    scores = scores.masked_fill(past == 0, -1e9)
    weights = scores.softmax(dim=-1)
    loss = nn.functional.mse_loss(head(weights @ trade(diary)), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
