import torch
from torch import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Linear(36, 10)

    def forward(self, images):
        return torch.softmax(self.head(self.features(images)), dim=1)


torch.manual_seed(2)
model = Digits()
images, digits = torch.rand(16, 1, 8, 8), torch.randint(0, 10, (16,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    loss = nn.functional.cross_entropy(model(images), digits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
