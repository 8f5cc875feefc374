import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
ratings = torch.tensor([[5.0, 0.0, 3.0], [0.0, 4.0, 1.0], [0.0, 0.0, 0.0]])  # one user is new
films = F.normalize(torch.randn(6, 2), dim=1)
likes = torch.randint(0, 6, (3,))
model = nn.Linear(3, 2)
nn.init.zeros_(model.bias)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step in range(4):
    direction = F.normalize(model(ratings), dim=1, eps=0.1)
    loss = F.cross_entropy(direction @ films.T, likes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
