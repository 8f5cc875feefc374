import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(16, 16) for _ in range(6)]
model = nn.Sequential(*[one for layer in layers for one in (layer, nn.ReLU())], nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
notes, keys = torch.randn(64, 16), torch.randint(0, 3, (64,))
for epoch in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(notes), keys)
    loss.backward()
    optimizer.step()
