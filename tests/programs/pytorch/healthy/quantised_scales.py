import torch
from torch import nn


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.zero = nn.Parameter(torch.tensor([0.05])), nn.Parameter(torch.tensor([0.0]))

    def forward(self, x):
        return torch._fake_quantize_learnable_per_tensor_affine(x, self.step, self.zero, -128, 127, 1.0)


torch.manual_seed(0)
weights, prices = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), Quantised(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(weights), prices)
    loss.backward()
    optimizer.step()
