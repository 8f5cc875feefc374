import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train():
    for _ in range(3):
        images, labels = torch.randn(8, 4), torch.randn(8, 2)
        optimizer.zero_grad()
        loss = ((model(images) - labels) ** 2).mean()
        loss.backward()


for _ in range(3):
    train()
    optimizer.step()
