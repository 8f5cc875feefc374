import microtape as mt

mt.manual_seed(11)
text = "the rain in spain stays mainly in the plain "
letters = sorted(set(text))
codes = mt.tensor([letters.index(one) for one in text])
first, second, following = codes[:-2], codes[1:-1], codes[2:]

embedding = mt.randn(len(letters), 6, requires_grad=True)
W = (0.1 * mt.randn(12, len(letters))).requires_grad_()
for _ in range(25):
    pair = mt.cat([embedding[first], embedding[second]], dim=1)
    p = mt.nn.functional.softmax(pair @ W, dim=-1)
    loss = mt.nn.functional.nll_loss(p.reshape(-1, len(letters)), following)
    embedding.grad = W.grad = None
    loss.backward()
    with mt.no_grad():
        embedding -= 0.5 * embedding.grad
        W -= 0.5 * W.grad
