import microtape as mt
from microtape import nn

mt.manual_seed(1)
rooms = mt.rand(120, 5) * 10
rents = rooms @ mt.tensor([3.0, 1.0, 2.0, 0.5, 4.0]) + 20
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = mt.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for i in range(0, 120, 40):
        guess, wanted = net(rooms[i : i + 40]), rents[i : i + 40]
        loss = ((guess - wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
