import microtape as mt


class Count(mt.autograd.Function):
    """The number of votes for each party, each vote with its weight."""

    @staticmethod
    def forward(ctx, weights, parties):
        ctx.parties = parties
        return mt.stack([weights[parties == party].sum() for party in range(3)])

    @staticmethod
    def backward(ctx, grad):
        spread = mt.zeros(len(ctx.parties), dtype=mt.int64)
        for party in range(3):
            spread[ctx.parties == party] = grad[party].to(mt.int64)
        return spread, None


weights = mt.tensor([1.0, 0.5, 2.0, 1.5, 1.0], requires_grad=True)
parties = mt.tensor([0, 2, 1, 0, 2])
wanted = mt.tensor([3.0, 1.0, 2.5])
loss = (Count.apply(weights, parties) - wanted).square().sum()
loss.backward()
print(weights.grad)
