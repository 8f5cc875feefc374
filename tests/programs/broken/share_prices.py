import microtape as mt


class Worth(mt.autograd.Function):
    @staticmethod
    def forward(ctx, prices, shares):
        ctx.save_for_backward(prices, shares)
        return (prices * shares[:, None]).squeeze(1)

    @staticmethod
    def backward(ctx, grad_worth):
        prices, shares = ctx.saved_tensors
        grad_prices = grad_worth * shares[:, None]
        grad_shares = grad_worth * prices.squeeze(1)
        return grad_prices, grad_shares


prices = mt.tensor([[3.0], [1.0], [4.0], [1.5]], requires_grad=True)
shares = mt.tensor([10.0, 20.0, 5.0, 8.0], requires_grad=True)
target = mt.tensor([25.0, 22.0, 18.0, 14.0])
loss = (Worth.apply(prices, shares) - target).square().mean()
loss.backward()
print(prices.grad)
