import microtape as mt


class WarmSoftmax(mt.autograd.Function):
    @staticmethod
    def forward(ctx, scores, warmth):
        p = (scores / warmth).softmax(dim=-1)
        ctx.save_for_backward(p)
        ctx.warmth = warmth.item()
        return p

    @staticmethod
    def backward(ctx, grad_p):
        (p,) = ctx.saved_tensors
        inner = (grad_p * p).sum(dim=-1, keepdim=True)
        return p * (grad_p - inner) / ctx.warmth, None


scores = mt.tensor([[1.0, 0.2, -0.5], [0.1, 0.9, 0.3]], requires_grad=True)
warmth = mt.tensor(1.5, requires_grad=True)
answers = mt.tensor([0, 2])

for step in range(3):
    p = WarmSoftmax.apply(scores, warmth)
    loss = -p[mt.arange(2), answers].log().mean() + 0.01 * (warmth - 1) ** 2
    loss.backward()
    with mt.no_grad():
        for one in (scores, warmth):
            one -= 0.5 * one.grad
            one.grad = None
