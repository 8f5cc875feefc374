import microtape as mt

mt.manual_seed(2)


class Skipper:
    def __init__(self, net, slow):
        self.net = net
        self.target = slow
        self.optimizer = mt.optim.SGD(self.net.parameters(), lr=0.05)

    def learn(self, wind, gain, later):
        with mt.no_grad():
            goal = gain + 0.9 * self.target(later).max(1).values
        loss = (self.net(wind).max(1).values - goal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def follow(self):
        self.target.load_state_dict(self.target.state_dict())


skipper = Skipper(mt.nn.Linear(3, 4), mt.nn.Linear(3, 4))
for tack in range(8):
    wind, later = mt.randn(10, 3), mt.randn(10, 3)
    print(tack, skipper.learn(wind, wind.sum(1), later))
    if tack % 3 == 2:
        skipper.follow()
