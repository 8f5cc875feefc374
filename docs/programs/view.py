import microtape as mt

# Writing through a view changes the history of the whole table.
scale = mt.tensor(10.0, requires_grad=True)
start = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

table = start * 1.0
row = table[0]
row *= scale
table.sum().backward()
