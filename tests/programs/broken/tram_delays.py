import microtape as mt
from microtape import nn

mt.manual_seed(8)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))


class Trainer:
    def __init__(self, net, rate):
        self.net = net
        self.rate = rate

    def train(self, x, y):
        self.optimizer = mt.optim.SGD(self.net.parameters(), lr=self.rate, momentum=0.9)
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer(net, 0.02)
for week in range(12):
    stops = mt.randn(16, 4)
    late = stops[:, :1] * 2 - stops[:, 1:2]
    print(week, trainer.train(stops, late))
