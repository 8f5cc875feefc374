"""Batch norm written as a layer, against the library's: outputs, running statistics and gradients."""

import torch
from torch import nn


def batch_norm(X, gamma, beta, moving_mean, moving_var, eps, momentum):
    if not torch.is_grad_enabled():
        X_hat = (X - moving_mean) / torch.sqrt(moving_var + eps)
    else:
        assert len(X.shape) in (2, 4)
        if len(X.shape) == 2:
            mean = X.mean(dim=0)
            var = ((X - mean) ** 2).mean(dim=0)
        else:
            mean = X.mean(dim=(0, 2, 3), keepdim=True)
            var = ((X - mean) ** 2).mean(dim=(0, 2, 3), keepdim=True)
        X_hat = (X - mean) / torch.sqrt(var + eps)
        n = X.numel() / X.shape[1]
        moving_mean = (1.0 - momentum) * moving_mean + momentum * mean
        moving_var = (1.0 - momentum) * moving_var + momentum * var * n / (n - 1)
    return gamma * X_hat + beta, moving_mean.data, moving_var.data


class BatchNorm(nn.Module):
    def __init__(self, num_features, num_dims):
        super().__init__()
        shape = (1, num_features) if num_dims == 2 else (1, num_features, 1, 1)
        self.gamma = nn.Parameter(torch.ones(shape))
        self.beta = nn.Parameter(torch.zeros(shape))
        self.moving_mean = torch.zeros(shape)
        self.moving_var = torch.ones(shape)

    def forward(self, X):
        Y, self.moving_mean, self.moving_var = batch_norm(
            X, self.gamma, self.beta, self.moving_mean, self.moving_var, eps=1e-5, momentum=0.1
        )
        return Y


def build(norm2d, norm1d):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, kernel_size=3), norm2d, nn.Sigmoid(), nn.AvgPool2d(kernel_size=2, stride=2), nn.Flatten(),
        nn.Linear(36, 8), norm1d, nn.ReLU(), nn.Linear(8, 2),
    )  # fmt: skip


ours = build(BatchNorm(4, num_dims=4), BatchNorm(8, num_dims=2))
theirs = build(nn.BatchNorm2d(4), nn.BatchNorm1d(8))
torch.manual_seed(1)
for step in range(4):
    X, y = torch.randn(10, 1, 8, 8), torch.randint(0, 2, (10,))
    losses = []
    for net in (ours, theirs):
        net.zero_grad()
        loss = nn.CrossEntropyLoss()(net(X), y)
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
        losses.append(round(loss.item(), 4))
    print(step, losses)
print("gamma:", ours[1].gamma.reshape((-1,)), "\nweight:", theirs[1].weight)
print("running mean:", ours[6].moving_mean.flatten(), "\nlibrary's:   ", theirs[6].running_mean)
print("same variance:", torch.allclose(ours[1].moving_var.flatten(), theirs[1].running_var, atol=1e-4))
theirs.eval()
with torch.no_grad():
    print("same in evaluation:", torch.allclose(ours(X), theirs(X), atol=1e-3), theirs[6].num_batches_tracked)
