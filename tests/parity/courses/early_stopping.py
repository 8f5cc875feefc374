"""Overfitting a polynomial, and a class that stops in time and keeps the best weights."""

import copy

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
x = torch.rand(40, 1) * 2 - 1
features = torch.cat([x**i for i in range(1, 10)], dim=1)
targets = torch.sin(3 * x) + 0.3 * torch.randn(40, 1)
train_set = TensorDataset(features[:25], targets[:25])
valid_set = TensorDataset(features[25:], targets[25:])


class EarlyStopping:
    def __init__(self, patience=3, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best_loss, self.best_weights, self.counter = float("inf"), None, 0

    def __call__(self, val_loss, model):
        if val_loss < self.best_loss - self.min_delta:
            self.best_loss, self.counter = val_loss, 0
            self.best_weights = copy.deepcopy(model.state_dict())
        else:
            self.counter += 1
        return self.counter >= self.patience


model = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = optim.RMSprop(model.parameters(), lr=0.02)
stopper = EarlyStopping(patience=3, min_delta=1e-4)
train_loader = DataLoader(train_set, batch_size=5, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=len(valid_set))

for epoch in range(40):
    model.train()
    running_loss = 0.0
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * inputs.size(0)
    model.eval()
    with torch.no_grad():
        val_loss = sum(criterion(model(a), b).item() for a, b in valid_loader) / len(valid_loader)
    print(f"Epoch {epoch:02d} train {running_loss / len(train_set):.4f} valid {val_loss:.4f}")
    if stopper(val_loss, model):
        print("Early stopping")
        break

model.load_state_dict(stopper.best_weights)
with torch.no_grad():
    restored = criterion(model(valid_set[:][0]), valid_set[:][1]).item()
print(f"best {stopper.best_loss:.4f}, restored {restored:.4f}, same: {abs(restored - stopper.best_loss) < 1e-6}")
