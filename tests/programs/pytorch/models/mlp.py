import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(10, 32), nn.Linear(32, 32), nn.Linear(32, 4)])
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.dropout(torch.relu(layer(x)))
        return self.layers[-1](x)


model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
features, labels = torch.randn(64, 10), torch.randint(4, (64,))
losses = []
for batch in range(4):
    rows = slice(16 * batch, 16 * batch + 16)
    loss = nn.functional.cross_entropy(model(features[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
