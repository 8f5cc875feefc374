import microtape as mt

mt.manual_seed(0)
W = mt.randn(4, 3, requires_grad=True)
x = mt.randn(6, 4)

h = x @ W
h = (h - h.mean(0)) / h.var(0, unbiased=False).sqrt()
loss = (h**3).mean()
loss.backward()
