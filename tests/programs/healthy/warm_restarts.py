import microtape as mt

mt.manual_seed(4)
x = mt.randn(24, 2)
y = (x[:, 0] - x[:, 1]).tanh()
w = mt.zeros(2, requires_grad=True)

for rate in (0.1, 0.03, 0.01):  # a new Adam at each rate, for several steps
    optimizer = mt.optim.Adam([w], lr=rate)
    for step in range(5):
        optimizer.zero_grad()
        loss = ((x @ w).tanh() - y).square().mean()
        loss.backward()
        optimizer.step()
    print(rate, loss.item())

for row, wanted in zip(x, y):  # plain gradient descent keeps nothing
    plain = mt.optim.SGD([w], lr=0.01)
    plain.zero_grad()
    error = ((row @ w).tanh() - wanted).square()
    error.backward()
    plain.step()

offsets = []
for shift in x[:4]:  # a new leaf each time
    offset = mt.zeros(2, requires_grad=True)
    search = mt.optim.Adam([offset], lr=0.1)
    (shift + offset - 1).square().sum().backward()
    search.step()
    offsets.append(offset.tolist())
print(w.tolist(), offsets)
