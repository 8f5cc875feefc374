import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(5, 3), nn.Linear(3, 5)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
x = torch.randn(8, 5)


def only_large(gradient):
    return gradient.clamp(-1.0, 1.0)


for step in range(3):
    code = encoder(x).tanh()
    code.register_hook(only_large)
    loss = ((decoder(code) - x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
