import microtape as mt
from microtape import nn, optim
from microtape.nn import functional as F

mt.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for episode in range(4):
    seen, returns, moves = mt.randn(16, 4), mt.randn(16), mt.randint(0, 3, (16,))
    with mt.no_grad():
        before = F.log_softmax(actor(seen), dim=1)[mt.arange(16), moves]
    for epoch in range(2):
        values = critic(seen)[:, 0]
        advantage = returns - values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (F.log_softmax(actor(seen), dim=1)[mt.arange(16), moves] - before).exp()
        gain = mt.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = F.mse_loss(values, returns) - gain
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
