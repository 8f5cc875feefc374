import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
wind = torch.randn(64, 4)
speed = wind.pow(2).sum(1, keepdim=True).sqrt()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
smooth = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9)).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for x, y in zip(wind.split(16), speed.split(16)):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        smooth.update_parameters(model)
print(nn.functional.mse_loss(smooth(wind), speed).item())
