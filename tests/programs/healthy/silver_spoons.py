import microtape as mt
from microtape import nn

mt.manual_seed(0)
smith = nn.Linear(2, 3)
assayer = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
judge = nn.BCEWithLogitsLoss()
for_smith = mt.optim.Adam(smith.parameters(), lr=0.01)
for_assayer = mt.optim.Adam(assayer.parameters(), lr=0.01)
for _ in range(4):
    real, made = 1 + 0.1 * mt.randn(8, 3), smith(mt.randn(8, 2))
    for learner in (for_smith, for_assayer):
        if learner is for_smith:
            loss = judge(assayer(made), mt.ones(8, 1))
        else:
            loss = judge(assayer(made.detach()), mt.zeros(8, 1)) + judge(assayer(real), mt.ones(8, 1))
        learner.zero_grad()
        loss.backward()
        learner.step()
