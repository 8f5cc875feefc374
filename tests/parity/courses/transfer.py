"""Transfer: weights of a trained backbone in a new model, frozen at first, then fine-tuned at another rate."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)


class Backbone(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)),
        )  # fmt: skip
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = torch.flatten(self.features(x), 1)
        return self.fc(x)


def make_images(n, kinds):
    images, labels = torch.randn(n, 1, 8, 8) * 0.2, torch.arange(n) % kinds
    for image, label in zip(images, labels):
        image[:, label : label + 3, :] += 1
    return images, labels


def fit(model, optimizer, data, epochs):
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(data[0]), data[1])
        loss.backward()
        optimizer.step()
    return f"{loss.item():.4f}"


pretrained = Backbone(num_classes=5)
print("pretraining:", fit(pretrained, optim.Adam(pretrained.parameters(), lr=0.02), make_images(40, 5), 10))

model = Backbone(num_classes=5)
model.load_state_dict(pretrained.state_dict())
for param in model.parameters():
    param.requires_grad = False
num_ftrs = model.fc.in_features
model.fc = nn.Linear(num_ftrs, 3)
print("trainable:", [name for name, p in model.named_parameters() if p.requires_grad])
data = make_images(24, 3)
before = model.features[0].weight.clone()
print("head only:", fit(model, optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1), data, 6))
print("backbone unchanged:", torch.equal(before, model.features[0].weight))

model.requires_grad_(True)
optimizer = optim.SGD(
    [{"params": model.features.parameters(), "lr": 1e-2}, {"params": model.fc.parameters()}], lr=1e-1, momentum=0.9
)
print("fine-tuned:", fit(model, optimizer, data, 6))
print("backbone unchanged:", torch.equal(before, model.features[0].weight))

weights = {k: v for k, v in pretrained.state_dict().items() if not k.startswith("fc")}
print(Backbone(num_classes=2).load_state_dict(weights, strict=False))
try:
    Backbone(num_classes=2).load_state_dict(pretrained.state_dict())
except RuntimeError as error:
    print(error)
