"""Learning-rate schedules: warm-up by hand, the library's, and what each does to a small fit."""

import math

import torch
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(0)
inputs, targets = torch.randn(32, 4), torch.randn(32, 1)


def make():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    return net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


class SquareRootScheduler:
    def __init__(self, lr=0.1):
        self.lr = lr

    def __call__(self, num_update):
        return self.lr * pow(num_update + 1.0, -0.5)


def warmup_cosine(epoch, warmup=3, total=12):
    if epoch < warmup:
        return (epoch + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (epoch - warmup) / (total - warmup)))


def train(name, net, optimizer, scheduler, epochs=12):
    rates = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), targets)
        loss.backward()
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
        if hasattr(scheduler, "get_last_lr"):
            scheduler.step()
        else:
            for param_group in optimizer.param_groups:
                param_group["lr"] = scheduler(epoch)
    print(f"{name:12s} loss {loss.item():.5f} rates {' '.join(f'{rate:.4f}' for rate in rates)}")


net, optimizer = make()
train("square root", net, optimizer, SquareRootScheduler())
for name, build in {
    "step": lambda optimizer: lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5),
    "exponential": lambda optimizer: lr_scheduler.ExponentialLR(optimizer, gamma=0.9),
    "multistep": lambda optimizer: lr_scheduler.MultiStepLR(optimizer, milestones=[3, 9], gamma=0.1),
    "cosine": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, T_max=12, eta_min=0.001),
    "warm-up": lambda optimizer: lr_scheduler.LambdaLR(optimizer, lr_lambda=warmup_cosine),
}.items():
    net, optimizer = make()
    scheduler = build(optimizer)
    train(name, net, optimizer, scheduler)
    print(type(scheduler).__name__, scheduler.last_epoch, [round(lr, 6) for lr in scheduler.get_last_lr()])
