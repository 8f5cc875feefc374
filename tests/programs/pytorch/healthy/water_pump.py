import torch
from torch import nn

torch.manual_seed(6)
policy = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for day in range(5):
    level, chances, rewards = torch.rand(2), [], []
    for hour in range(10):
        scores = policy(level).log_softmax(0)
        pumped = torch.multinomial(scores.exp(), 1).item()
        chances.append(scores[pumped])
        level = level * 0.8 + 0.1 * pumped
        rewards.append(1.0 - (level - 0.5).abs().sum().item())
    to_come = [sum(rewards[hour:]) for hour in range(10)]
    returns = torch.tensor(to_come) - 5.0
    chosen = torch.stack(chances)
    loss = -(chosen * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
