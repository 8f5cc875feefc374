import torch
from torch import nn

torch.manual_seed(1)
ingredients = torch.randn(30, 12)
suits = (torch.cat([ingredients[:, :2], ingredients[:, 4:7] - 0.5], 1) > 0).float()  # breakfast, lunch, dinner, ...
cook = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(cook.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    loss = criterion(cook(ingredients), suits)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}")
