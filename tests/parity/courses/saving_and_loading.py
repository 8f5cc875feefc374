"""Tensors, weights and checkpoints in files, and training that goes on where it stopped."""

import os
import tempfile

import torch
from torch import nn
from torch.nn import functional as F

folder = tempfile.mkdtemp()

x, y = torch.arange(4), torch.zeros(4)
torch.save([x, y], os.path.join(folder, "x-files"))
x2, y2 = torch.load(os.path.join(folder, "x-files"))
print((x2, y2))
torch.save({"x": x, "y": y, "name": "pair"}, os.path.join(folder, "mydict"))
print(torch.load(os.path.join(folder, "mydict")))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(20, 32)
        self.norm = nn.BatchNorm1d(32)
        self.output = nn.Linear(32, 3)

    def forward(self, x):
        return self.output(F.relu(self.norm(self.hidden(x))))


def train(net, optimizer, epochs):
    net.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(X), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
X, labels = torch.randn(12, 20), torch.randint(3, (12,))
net = MLP()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
loss = train(net, optimizer, 5)
print(f"loss after 5 epochs: {loss:.5f}")
for name, value in net.state_dict().items():
    print(name, "\t", value.size(), value.dtype)

path = os.path.join(folder, "checkpoint.pt")
torch.save(
    {"epoch": 5, "model_state_dict": net.state_dict(), "optimizer_state_dict": optimizer.state_dict(), "loss": loss},
    path,
)

clone = MLP()
other = torch.optim.Adam(clone.parameters())
checkpoint = torch.load(path, weights_only=True, map_location="cpu")
print(clone.load_state_dict(checkpoint["model_state_dict"]))
other.load_state_dict(checkpoint["optimizer_state_dict"])
print("learning rate:", other.param_groups[0]["lr"], "epoch:", checkpoint["epoch"])
net.eval(), clone.eval()
print("same answers:", (clone(X) == net(X)).all())
print(f"both go on: {train(net, optimizer, 3):.5f} {train(clone, other, 3):.5f}")
try:
    nn.Linear(20, 32).load_state_dict(checkpoint["model_state_dict"])
except RuntimeError as error:
    print(error)
