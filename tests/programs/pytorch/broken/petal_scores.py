import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
petals, species = torch.randn(24, 5), torch.randint(0, 3, (24,))
for epoch in range(3):
    optimizer.zero_grad()
    scores = model(petals)
    loss = criterion(scores, species)
    loss.backward()
    optimizer.step()
