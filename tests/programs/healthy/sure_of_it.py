import microtape as mt
from microtape import nn, optim
from microtape.nn import functional as F

mt.manual_seed(0)
model, hardness = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = optim.Adam([*model.parameters(), *hardness.parameters()], lr=0.01)
for step in range(4):
    given, label = mt.randn(16, 4), mt.randint(0, 3, (16,))
    scores = F.log_softmax(model(given), dim=1).gather(1, label[:, None]).squeeze(1)
    expected = hardness(given).sigmoid().squeeze(1)
    focal = -(scores * (1 - scores.exp())).mean()  # a weight that depends on the probability itself
    weighted = -(scores * (1 - expected)).mean()  # a weight that is learnt by this loss alone
    loss = focal + weighted - 0.1 * (1 - expected).log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
