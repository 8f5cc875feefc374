import microtape as mt
from microtape import nn

mt.manual_seed(0)
bells = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = mt.optim.SGD(bells.parameters(), lr=0.1)
for _ in range(2):
    pull = mt.randn(16, 3)
    loss = (bells(pull) - pull.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for one in bells.parameters():
    one.requires_grad_(False)
for _ in range(2):
    pull = mt.randn(3, requires_grad=True)
    tones = bells(pull)
    rows = []
    for i in range(4):
        pull.grad = None
        tones[i].backward(retain_graph=True)
        rows.append(pull.grad.clone())
    print(mt.stack(rows).square().sum().item())
