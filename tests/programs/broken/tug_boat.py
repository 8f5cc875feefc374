import microtape as mt
from microtape import nn, optim
from microtape.nn import functional as F

mt.manual_seed(0)
body, actor, critic = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)
parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = optim.SGD(parameters, lr=0.05)
for trip in range(4):
    chosen, values, rewards = [], [], []
    for hour in range(5):
        h = body(mt.randn(3)).tanh()
        scores = F.log_softmax(actor(h), dim=0)
        move = mt.multinomial(scores.detach().exp(), 1)
        chosen.append(scores[move])
        values.append(critic(h))
        rewards.append(mt.rand(()).item())
    losses, total = [], 0.0
    for score, value, reward in zip(reversed(chosen), reversed(values), reversed(rewards)):
        total = reward + 0.9 * total
        gained = total - value
        losses.append(-score * gained + F.smooth_l1_loss(value, mt.tensor([total])))
    loss = mt.cat(losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
