import microtape as mt

mt.manual_seed(5)
habitat = mt.rand(40, 3)
seen = (habitat @ mt.tensor([0.5, 1.0, -0.5])).exp()
w = mt.zeros(3, requires_grad=True)
b = mt.zeros((), requires_grad=True)


def improve(rows, counts):
    rule = mt.optim.Adagrad([w, b], lr=0.3)
    rate = (rows @ w + b).exp()
    loss = (rate - counts * (rows @ w + b)).mean()
    rule.zero_grad()
    loss.backward()
    rule.step()
    return loss.item()


for turn in range(10):
    start = turn % 4 * 10
    print(turn, improve(habitat[start : start + 10], seen[start : start + 10]))
