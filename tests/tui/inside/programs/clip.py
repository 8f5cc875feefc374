import microtape as mt


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        inside = (x >= lo) & (x <= hi)
        mask = inside.float()
        ctx.save_for_backward(mask, x)
        ctx.lo = lo
        ctx.mark_non_differentiable(inside)
        return x * mask, inside

    @staticmethod
    def backward(ctx, g, _g_inside):
        mask, x = ctx.saved_tensors  # noqa: RUF059
        scaled = g * mask
        return scaled, None, None


class AddOne(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1.0)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
y = x * 2
y = AddOne.apply(y)
z, inside = Clip.apply(y, -1.0, 4.0)


def halve(g):
    return g * 0.5


z.register_hook(halve)
loss = (z * z).sum()
loss.backward()
print(x.grad)
