import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
cell, head = nn.RNNCell(3, 6), nn.Linear(6, 2)
optimizer = optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
state = mt.zeros(4, 6)
for _ in range(3):
    state = state.detach()
    for _ in range(5):
        state = cell(mt.randn(4, 3), state)
    loss = (head(state) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
