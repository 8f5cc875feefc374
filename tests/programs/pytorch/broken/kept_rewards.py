import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    log_probs, rewards = [], []
    for step in range(8):
        moves = Categorical(logits=policy(torch.randn(4)))
        move = moves.sample()
        log_probs.append(moves.log_prob(move).item())
        rewards.append(float(move) - 0.5)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.tensor(log_probs, requires_grad=True) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
