import microtape as mt

# Two hooks that clip gradients: one on its way, one when it has arrived.
#
# A recurrence multiplies its state by W at each step, so its gradient
# explodes. The hook of `state` returns a clipped gradient, and backward goes
# on with that gradient. The hook of `W` runs when `W.grad` is complete, and
# shrinks it to length 1 before a step of gradient descent.
#
# Look at: the gradient before and after each hook. The hook of `state` changes
# the gradients of all earlier steps; the hook of `W` changes only W.grad.


def clip_value(gradient):
    return gradient.clamp(-5.0, 5.0)


def clip_norm(parameter):
    norm = (parameter.grad**2).sum().sqrt()
    if norm > 1.0:
        parameter.grad /= norm


W = mt.tensor([[2.0, 0.5], [-1.0, 1.5]], requires_grad=True)
W.register_post_accumulate_grad_hook(clip_norm)

state = mt.tensor([[1.0, -0.5]])
for _step in range(3):
    state = state @ W
    state.register_hook(clip_value)
loss = (state * state).sum()

loss.backward()

print("loss =", round(loss.item(), 4))
print("W.grad =", [[round(one, 4) for one in row] for row in W.grad.tolist()])
