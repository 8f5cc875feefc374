import microtape as mt
from microtape import nn

mt.manual_seed(8)
snow = mt.rand(40, 2)
queue = (snow[:, :1] * 3 - snow[:, 1:]).sigmoid()


class Lift(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 10)
        self.out = nn.Linear(10, 1)

    def forward(self, x):
        return self.out(self.hidden(x).tanh()).sigmoid()


lift = Lift()
rule = mt.optim.SGD(lift.parameters(), lr=0.2, momentum=0.9)
for morning in range(15):
    rule.zero_grad()
    loss = (lift(snow) - queue).square().mean()
    loss.backward()
    for name, weight in lift.named_parameters():
        print(morning, name, weight.grad.norm().item())
        rule.step()
