import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = optim.Adam(policy.parameters(), lr=0.001)
states, actions, advantages = mt.randn(32, 4), mt.randint(0, 2, (32, 1)), mt.randn(32)


def log_probability(scores):
    return nn.functional.log_softmax(scores, dim=1).gather(1, actions).squeeze(1)


for _ in range(4):
    scores = policy(states)
    before = log_probability(scores)
    ratio = (log_probability(scores) - before).exp()
    loss = -mt.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
