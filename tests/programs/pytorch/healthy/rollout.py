import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
states, actions, returns = torch.randn(16, 4), torch.randint(0, 2, (16,)), torch.randn(16)
before = torch.zeros(16)
with torch.no_grad():
    for t in range(16):
        before[t] = F.log_softmax(policy(states[t]), dim=0)[actions[t]]
for epoch in range(4):
    for some in torch.arange(16).split(8):
        now = F.log_softmax(policy(states[some]), dim=1).gather(1, actions[some, None]).squeeze(1)
        ratio = (now - before[some]).exp()
        loss = -torch.min(ratio * returns[some], ratio.clamp(0.8, 1.2) * returns[some]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
