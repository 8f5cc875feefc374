import microtape as mt


class Push(mt.autograd.Function):
    @staticmethod
    def forward(ctx, position, velocity, stiffness, damping):
        ctx.save_for_backward(position, stiffness)
        return -stiffness * position - damping * velocity

    @staticmethod
    def backward(ctx, grad_force):
        position, stiffness = ctx.saved_tensors
        grad_stiffness = -(grad_force * position).sum()
        return -grad_force * stiffness, None, grad_stiffness, None


stiffness = mt.tensor(2.0, requires_grad=True)
damping = mt.tensor(0.3)
position, velocity = mt.tensor([1.0, -0.5]), mt.tensor([0.0, 0.4])

for _ in range(5):
    velocity = velocity + 0.1 * Push.apply(position, velocity, stiffness, damping)
    position = position + 0.1 * velocity
loss = (position - mt.tensor([0.2, 0.1])).square().sum()
loss.backward()
print(stiffness.grad)
