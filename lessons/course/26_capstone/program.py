import microtape as mt

inputs = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
weight = mt.tensor([[1.0], [-1.0]], requires_grad=True)
bias = mt.tensor([3.0], requires_grad=True)

scores = inputs @ weight
shifted = scores + bias
squares = shifted * shifted
loss = squares.sum()

loss.backward()

print("loss        =", loss.item())
print("weight.grad =", weight.grad.tolist())
print("bias.grad   =", bias.grad.tolist())
