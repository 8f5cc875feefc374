import microtape as mt

# A Function with a wrong derivative, as it is often written.
#
# Backward multiplies by z · (1 - z): how much each input of softmax moves its
# own output. But the outputs share a sum, so each input moves *all* of them,
# and that part is forgotten. Nothing fails, and training goes on, badly.
#
# Look at: what the stepper finds. It compares the backward of each Function
# with finite differences; `D` shows both. The way out: return
# z * (grad_z - (grad_z * z).sum()).


class Softmax(mt.autograd.Function):
    """z = eˣ / Σ eˣ."""

    @staticmethod
    def forward(ctx, x):
        powers = (x - x.max()).exp()
        z = powers / powers.sum()
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * z * (1 - z)


scores = mt.tensor([2.0, 1.0, 0.5], requires_grad=True)
target = mt.tensor([0.1, 0.8, 0.1])

probability = Softmax.apply(scores)
loss = -(target * probability.log()).sum()

loss.backward()

print("loss =", round(loss.item(), 4))
print("scores.grad =", [round(one, 4) for one in scores.grad.tolist()])
