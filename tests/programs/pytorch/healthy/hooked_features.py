import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(6, 8), nn.Tanh()), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


class Features(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.projector = net, nn.Linear(8, 4)
        net.body.register_forward_hook(self.keep)

    def keep(self, module, arguments, result):
        self.features = result

    def forward(self, x):
        self.net(x)
        return self.projector(self.features)


torch.manual_seed(0)
model = Features(Classifier())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = (model(torch.randn(16, 6)) - model(torch.randn(16, 6))).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
