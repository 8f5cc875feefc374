import torch
from torch import nn

torch.manual_seed(2)
winds, pulls, heights = torch.randn(40, 3), torch.randint(0, 2, (40,)), torch.rand(40)
model = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for flight in range(5):
    some = torch.randperm(40)[:10]
    pulled = pulls[some].unsqueeze(1)
    expected = model(winds[some]).gather(1, pulled)
    loss = nn.functional.smooth_l1_loss(expected.squeeze(1), heights[some])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
