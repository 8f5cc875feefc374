import microtape as mt

# max has two results; only one of them has a gradient.
scores = mt.tensor([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]], requires_grad=True)
largest, where = scores.max(1)
first, second = largest.unbind()
(first * second).backward()
