import microtape as mt

# A checkpoint: backward computes the inside of a block a second time.
#
# A checkpoint keeps only the input of the block. When backward reaches the
# block, the block runs again, and its nodes get the numbers that they need.
# That costs time and saves memory: `hidden` is not kept until backward.
#
# Look at: the last node of the block, `guess`. Its step begins with the
# recomputation. Inside of it are the operations of the forward pass, with the
# same numbers.

from microtape.utils.checkpoint import checkpoint

x = mt.tensor([[1.0, -2.0]])
W1 = mt.tensor([[0.5, -1.0, 0.2], [1.5, 0.5, -0.3]], requires_grad=True)
W2 = mt.tensor([[1.0], [0.5], [-2.0]], requires_grad=True)


def block(x):
    hidden = (x @ W1).tanh()
    return hidden @ W2


guess = checkpoint(block, x, use_reentrant=False)
loss = (guess - 1.0) ** 2

loss.backward()

print("loss =", round(loss.item(), 4))
print("W2.grad =", [round(one, 4) for (one,) in W2.grad.tolist()])
