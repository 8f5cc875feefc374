import microtape as mt
from microtape import nn, optim


class Weaver(nn.Module):
    """Squeezes a pattern of eight threads into two numbers, and weaves it anew from them."""

    def __init__(self):
        super().__init__()
        self.squeeze = nn.Linear(8, 4)
        self.weave = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 8))

    def forward(self, pattern):
        mean, log_variance = self.squeeze(pattern).chunk(2, -1)
        code = mean + mt.randn_like(mean) * (0.5 * log_variance).exp()
        return self.weave(code), mean, log_variance


def distance_to_normal(mean, log_variance):
    return 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(-1).mean()


mt.manual_seed(0)
weaver = Weaver()
optimizer = optim.Adam(weaver.parameters(), lr=1e-3)
patterns = mt.randn(32, 8)
for epoch in range(4):
    woven, mean, log_variance = weaver(patterns)
    likeness = (woven - patterns).square().sum(-1).mean()
    prior = distance_to_normal(mean, log_variance)
    loss = likeness + 0.5 * prior.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch}: {loss.item():.3f}, of which {prior.item():.3f} for the prior")
