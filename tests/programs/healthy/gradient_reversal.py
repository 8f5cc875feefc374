import microtape as mt


class Reverse(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


mt.manual_seed(0)
body, labels, domains = mt.nn.Linear(4, 3), mt.nn.Linear(3, 2), mt.nn.Linear(3, 2)
optimizer = mt.optim.SGD([p for one in (body, labels, domains) for p in one.parameters()], lr=0.1)
x, y, domain = mt.randn(8, 4), mt.randint(0, 2, (8,)), mt.randint(0, 2, (8,))
for epoch in range(3):
    features = body(x).tanh()
    loss = mt.nn.functional.cross_entropy(labels(features), y)
    loss = loss + mt.nn.functional.cross_entropy(domains(Reverse.apply(features, 0.5)), domain)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
