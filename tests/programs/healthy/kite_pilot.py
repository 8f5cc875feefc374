import microtape as mt
from microtape import nn

mt.manual_seed(1)
body = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 2))
judge = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
spread = nn.Parameter(mt.zeros(2))
optimizer = mt.optim.Adam([*body.parameters(), spread, *judge.parameters()], lr=0.01)


def log_probability(wind, pull):
    return -((pull - body(wind)) ** 2 / (2 * (2 * spread).exp()) + spread).sum(1)


def fly(wind):
    with mt.no_grad():
        pull = body(wind) + spread.exp() * mt.randn(len(wind), 2)
        reward = -(pull - wind[:, :2]).square().sum(1)
        return pull, log_probability(wind, pull), reward, reward - judge(wind).squeeze(1)


for flight in range(3):
    wind = mt.randn(32, 4)
    pull, before, reward, advantage = fly(wind)
    for _ in range(2):
        chance = log_probability(wind, pull)
        ratio = (chance - before).exp()
        gain = mt.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        error = nn.functional.mse_loss(judge(wind).squeeze(1), reward)
        loss = -gain + 0.5 * error - 0.01 * spread.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
