import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = optim.Adam(policy.parameters(), lr=0.01)
for _ in range(3):
    chosen, won = [], []
    for _ in range(5):
        board = mt.randn(4)
        chosen.append(policy(board).log_softmax(dim=-1)[0])
        won.append(mt.rand(()))
    loss = -(mt.stack(chosen) * mt.stack(won)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
