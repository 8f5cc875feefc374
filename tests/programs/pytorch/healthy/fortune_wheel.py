import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for turn in range(6):
    shares = torch.softmax(policy(torch.randn(16, 4)), dim=1)
    wheel = Categorical(probs=shares)
    loss = -(wheel.log_prob(wheel.sample()) * torch.randn(16)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
