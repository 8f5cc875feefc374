import microtape as mt
from microtape import nn, optim


class Rule:
    def __init__(self, rate):
        self.rate = rate

    def take(self, parameters):
        self.optimizer = optim.Adam(list(parameters), lr=self.rate)

    def step(self):
        self.optimizer.step()


def learn(model, rule, weights, prices):
    rule.take(model.parameters())
    model.zero_grad()
    loss = ((model(weights) - prices) ** 2).mean()
    loss.backward()
    rule.step()
    return loss.item()


mt.manual_seed(0)
model, rule = nn.Linear(2, 1), Rule(0.01)
for _ in range(4):
    print(learn(model, rule, mt.randn(8, 2), 3 + mt.randn(8, 1)))
