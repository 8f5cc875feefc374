import microtape as mt
from microtape import nn

mt.manual_seed(6)
runner = nn.Linear(4, 4)
team = nn.ModuleList([runner for leg in range(3)])
finish = nn.Linear(4, 1)
optimizer = mt.optim.SGD([*team.parameters(), *finish.parameters()], lr=0.05)
for race in range(4):
    baton = mt.randn(10, 4)
    goal = baton.amax(dim=1, keepdim=True)
    for one in team:
        baton = one(baton).tanh()
    loss = ((finish(baton) - goal) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
