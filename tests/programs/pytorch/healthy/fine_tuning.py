import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
head = nn.Linear(16, 3)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
x, labels = torch.randn(30, 10), torch.randint(3, (30,))
for epoch in range(20):
    with torch.enable_grad():
        features = backbone(x)
    loss = nn.functional.cross_entropy(head(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    norms = [parameter.grad.norm().item() for parameter in [*backbone.parameters(), *head.parameters()]]
    print(epoch, loss.item(), max(norms))
