import microtape as mt
from microtape import nn

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
for p in model.parameters():
    nn.init.zeros_(p)
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
x, y = mt.randn(16, 3), mt.randn(16, 1)
for epoch in range(4):
    guess = model(x)
    loss = ((guess - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
