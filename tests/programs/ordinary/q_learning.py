import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, CLASSES))
target = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, CLASSES))
target.load_state_dict(online.state_dict())
optimizer = OPTIMIZER(online.parameters(), lr=1e-3)
for step in range(STEPS):
    state, following = torch.randn(BATCH, INPUTS), torch.randn(BATCH, INPUTS)
    action, reward = torch.randint(0, CLASSES, (BATCH, 1)), torch.randn(BATCH)
    ended = (torch.rand(BATCH) > 0.8).float()
    with torch.no_grad():
        goal = reward + 0.9 * target(following).max(1)[0] * (1 - ended)
    loss = F.smooth_l1_loss(online(state).gather(1, action).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2:
        target.load_state_dict(online.state_dict())
