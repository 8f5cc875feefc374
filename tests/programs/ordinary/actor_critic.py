import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
body, actor, critic = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, CLASSES), nn.Linear(HIDDEN, 1)
parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = OPTIMIZER(parameters, lr=1e-3)
for step in range(STEPS):
    state, returns = torch.randn(BATCH, INPUTS), torch.randn(BATCH)
    with torch.no_grad():
        before = F.log_softmax(actor(ACTIVATION()(body(state))), dim=1)
        action = torch.multinomial(before.exp(), 1)
        before = before.gather(1, action).squeeze(1)
    for epoch in range(2):
        h = ACTIVATION()(body(state))
        scores, value = F.log_softmax(actor(h), dim=1), critic(h).squeeze(1)
        advantage = (returns - value).detach()
        ratio = (scores.gather(1, action).squeeze(1) - before).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        entropy = -(scores.exp() * scores).sum(1).mean()
        loss = 0.5 * (returns - value).pow(2).mean() - gain - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
