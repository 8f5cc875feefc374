import microtape as mt

mt.manual_seed(0)
rows = mt.tensor([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
target = mt.tensor([[1.0], [0.0], [1.0]])
scaled = (rows - rows.mean(0)) / rows.std(0)
W = mt.randn(2, 1, requires_grad=True)
loss = mt.nn.functional.mse_loss(scaled @ W, target)
loss.backward()
