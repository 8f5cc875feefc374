import microtape as mt

F = mt.nn.functional
mt.manual_seed(8)
stitches = mt.randint(0, 5, (30,))
seen, coming = stitches[:-1], stitches[1:]
table = mt.randn(5, 6, requires_grad=True)
wq, wk, wv = (mt.randn(6, 6, requires_grad=True) for _ in range(3))
out = mt.randn(6, 5, requires_grad=True)
behind = mt.ones(29, 29).tril(diagonal=2) == 1  # one too many: the stitch after this
for row in range(3):
    x = F.embedding(seen, table)
    scores = (x @ wq) @ (x @ wk).t() / 6**0.5
    weights = scores.masked_fill(~behind, float("-inf")).softmax(-1)
    x = x + weights @ (x @ wv)
    loss = F.cross_entropy(x @ out, coming)
    loss.backward()
    with mt.no_grad():
        for p in (table, wq, wk, wv, out):
            p -= 0.05 * p.grad
            p.grad = None
