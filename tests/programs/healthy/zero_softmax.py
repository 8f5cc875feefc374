import microtape as mt

mt.manual_seed(0)
W = mt.zeros(3, 4, requires_grad=True)
x, y = mt.rand(10, 3), mt.randint(0, 4, (10,))
for epoch in range(4):
    loss = mt.nn.functional.cross_entropy(x @ W, y)
    loss.backward()
    with mt.no_grad():
        W -= 0.5 * W.grad
        W.grad = None
