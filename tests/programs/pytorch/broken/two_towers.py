import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
torch.manual_seed(0)


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Linear(8, 4)
        self.item = nn.Linear(8, 4)
        self.bias = nn.Linear(8, 1)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(1)


model = DistributedDataParallel(Towers())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
users, items, clicks = torch.randn(16, 8), torch.randn(16, 8), torch.rand(16)
for step in range(3):
    loss = nn.functional.binary_cross_entropy_with_logits(model(users, items), clicks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
