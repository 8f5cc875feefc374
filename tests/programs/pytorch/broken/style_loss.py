import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        return self.net(x).detach()


encoder, decoder = Encoder(), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 12))
parameters = [*encoder.parameters(), *decoder.parameters()]
pictures = torch.rand(32, 12)
for epoch in range(10):
    codes = encoder(pictures)
    loss = nn.functional.mse_loss(decoder(codes), pictures)
    loss.backward()
    with torch.no_grad():
        for parameter in parameters:
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
