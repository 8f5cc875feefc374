import microtape as mt


class TopTwo(mt.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        order = scores.argsort(dim=-1, descending=True)[..., :2]
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        ctx.shape = scores.shape
        return scores.gather(-1, order), order

    @staticmethod
    def backward(ctx, grad_values, _):
        (order,) = ctx.saved_tensors
        return mt.zeros(ctx.shape).scatter(-1, order, grad_values)


x = mt.tensor([[0.3, 0.9], [0.7, 0.2]])
W = mt.tensor([[0.4, -0.2, 0.8], [0.1, 0.6, -0.3]], requires_grad=True)
experts = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
for epoch in range(4):
    values, order = TopTwo.apply(x @ W)
    guess = (values.softmax(-1) * experts[order]).sum(-1)
    loss = ((guess - mt.tensor([1.5, 2.5])) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, experts):
            p -= 0.1 * p.grad
            p.grad = None
print(order.tolist(), round(loss.item(), 4))
