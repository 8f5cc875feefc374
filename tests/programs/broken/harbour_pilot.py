import microtape as mt
from microtape import nn, optim
from microtape.nn import functional as F

mt.manual_seed(0)
policy, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.01)
for voyage in range(3):
    seen, turns, gains = mt.randn(12, 4), mt.randint(0, 3, (12,)), mt.randn(12)
    value = critic(seen)
    advantage = gains - value
    log_p = F.log_softmax(policy(seen), dim=1)[mt.arange(12), turns]
    loss = F.mse_loss(value.squeeze(1), gains) - (log_p * advantage.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
