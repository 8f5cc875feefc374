import torch
from torch.distributions import Normal, Uniform

torch.manual_seed(0)
way = torch.linspace(0.5, 3.0, 24)
heights = 0.7 * way + 0.2 * torch.randn(24)

middle = torch.zeros(2, requires_grad=True)
spread = torch.full((2,), -2.0, requires_grad=True)
optimizer = torch.optim.Adam([middle, spread], lr=0.05)

for _ in range(6):
    posterior = Normal(middle, spread.exp())
    drawn = posterior.rsample()
    steepness, scatter = drawn[0], 5 * drawn[1].sigmoid()
    inside = torch.log((steepness > -10).float())
    prior = Uniform(0.0, 5.0).log_prob(scatter) + inside
    likelihood = Normal(steepness * way, scatter).log_prob(heights).sum()
    loss = posterior.log_prob(drawn).sum() - (likelihood + prior)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
