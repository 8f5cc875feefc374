import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = optim.SGD(net.parameters(), lr=0.1)
pages, ranks = mt.randn(6, 3), mt.arange(6.0)
for epoch in range(3):
    scores = net(pages)
    above = scores - scores.reshape(-1)  # of each pair
    loss = nn.functional.softplus(-above * (ranks[:, None] - ranks).sign()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
