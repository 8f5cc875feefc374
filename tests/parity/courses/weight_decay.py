"""Weight decay on few examples of many features: a penalty by hand, the optimiser's option, and AdamW's."""

import torch
from torch import nn

n_train, n_test, num_inputs = 20, 50, 40
torch.manual_seed(0)
true_w, true_b = torch.ones((num_inputs, 1)) * 0.01, 0.05
X = torch.randn(n_train + n_test, num_inputs)
y = X @ true_w + true_b + 0.01 * torch.randn(n_train + n_test, 1)
X_train, y_train, X_test, y_test = X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def l2_penalty(w):
    return torch.sum(w.pow(2)) / 2


def train_by_hand(lambd):
    torch.manual_seed(1)
    w = torch.normal(0, 1, size=(num_inputs, 1), requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    for _ in range(30):
        loss = ((X_train @ w + b - y_train) ** 2).mean() + lambd * l2_penalty(w)
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.05 * p.grad
                p.grad.zero_()
    test = ((X_test @ w + b - y_test) ** 2).mean().detach()
    print(f"by hand, lambda {lambd}: test loss {test:.4f}, norm of w {torch.norm(w).item():.4f}")


def train_concise(wd, make):
    torch.manual_seed(1)
    net = nn.Linear(num_inputs, 1)
    with torch.no_grad():
        for param in net.parameters():
            param.normal_()
    trainer = make([{"params": net.weight, "weight_decay": wd}, {"params": net.bias}])
    loss = nn.MSELoss(reduction="none")
    for _ in range(30):
        trainer.zero_grad()
        l = loss(net(X_train), y_train)
        l.mean().backward()
        trainer.step()
    test = loss(net(X_test), y_test).mean().item()
    print(f"{type(trainer).__name__}, decay {wd}: test {test:.4f}, norm {net.weight.norm().item():.4f}")
    print([{k: v for k, v in group.items() if k in ("lr", "weight_decay")} for group in trainer.param_groups])


train_by_hand(0)
train_by_hand(3)
train_concise(0, lambda groups: torch.optim.SGD(groups, lr=0.05))
train_concise(3, lambda groups: torch.optim.SGD(groups, lr=0.05))
train_concise(3, lambda groups: torch.optim.AdamW(groups, lr=0.05, weight_decay=0.0))
train_concise(3, lambda groups: torch.optim.Adam(groups, lr=0.05))
