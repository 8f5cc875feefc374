import microtape as mt


class Energy(mt.autograd.Function):
    """A potential whose force is trained, so the gradient is differentiated again."""

    @staticmethod
    def forward(ctx, position, stiffness):
        stretch = position - 1.0
        ctx.save_for_backward(stretch, stiffness)
        return (stiffness * stretch**3).sum()

    @staticmethod
    def backward(ctx, grad):
        stretch, stiffness = ctx.saved_tensors
        return 3 * grad * stiffness * stretch**2, (grad * stretch**3).sum()


position = mt.tensor([0.2, 0.9, 1.7], requires_grad=True)
stiffness = mt.tensor(2.0, requires_grad=True)
measured = mt.tensor([-3.0, 0.0, -2.5])

energy = Energy.apply(position, stiffness)
(slope,) = mt.autograd.grad(energy, position, create_graph=True)
loss = (-slope - measured).square().sum() + 0.1 * slope.sum()
loss.backward()
print(position.grad, stiffness.grad)
