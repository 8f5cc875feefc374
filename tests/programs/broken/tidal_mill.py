import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.Adam(net.parameters(), lr=0.01)
days = mt.randn(2, 10, 3)
power = days.sum(2)

for epoch in range(5):
    error = net(days.reshape(-1, 3)) - power.reshape(-1)
    loss = error.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch}: {loss.item():.4f}")
