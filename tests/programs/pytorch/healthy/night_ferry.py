import copy

import torch

torch.manual_seed(5)
net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
target = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for crossing in range(6):
    swell, later = torch.randn(12, 3), torch.randn(12, 3)
    with torch.no_grad():
        goal = swell.sum(1) + 0.9 * target(later).max(1).values
    loss = (net(swell).max(1).values - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(crossing, loss.item())
    if crossing % 3 == 2:
        target.load_state_dict(net.state_dict())
