import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, CLASSES))
optimizer = OPTIMIZER(policy.parameters(), lr=1e-3)
for episode in range(STEPS):
    chosen, rewards = [], []
    for _ in range(BATCH):
        scores = F.log_softmax(policy(torch.randn(1, INPUTS)), dim=-1)
        action = torch.multinomial(scores.exp(), 1)
        chosen.append(scores.gather(1, action).squeeze())
        rewards.append(torch.randn(1).item())
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(chosen) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
