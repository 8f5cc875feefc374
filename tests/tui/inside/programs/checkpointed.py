import microtape as mt
from microtape.utils.checkpoint import checkpoint


def block(x, w):
    h = x * w
    h = h.tanh()
    return h * w


x = mt.tensor([1.0, 2.0], requires_grad=True)
w = mt.tensor([0.5, 0.25], requires_grad=True)
y = checkpoint(block, x, w, use_reentrant=False)
z = checkpoint(block, y, w, use_reentrant=True)
with mt.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
    loss = (z * z).sum()
loss.backward()
