import microtape as mt

F = mt.nn.functional
mt.manual_seed(0)
line = mt.randint(0, 9, (30,))
table = mt.randn(9, 8, requires_grad=True)
hidden, out = mt.randn(8, 8, requires_grad=True), mt.randn(8, 9, requires_grad=True)
for stop in range(5):
    journey = line[stop : stop + 20]
    following = line[stop : stop + 20]
    h = (F.embedding(journey, table) @ hidden).relu()
    loss = F.cross_entropy(h @ out, following)
    loss.backward()
    with mt.no_grad():
        for parameter in (table, hidden, out):
            parameter -= 0.05 * parameter.grad
            parameter.grad = None
