"""Linear regression with a data loader, a layer, a loss and an optimiser of the library."""

import numpy as np
import torch
from torch import nn
from torch.utils import data

torch.manual_seed(1)

true_w, true_b = np.array([[2.0], [-3.4]]), 4.2
X = np.random.default_rng(0).normal(size=(300, 2))
y = X @ true_w + true_b

features = torch.from_numpy(X).float()
labels = torch.tensor(y, dtype=torch.float32)


def load_array(data_arrays, batch_size, is_train=True):
    dataset = data.TensorDataset(*data_arrays)
    return data.DataLoader(dataset, batch_size, shuffle=is_train)


data_iter = load_array((features, labels), 20)
first = next(iter(data_iter))
print(len(data_iter), [part.shape for part in first])

net = nn.Sequential(nn.Linear(2, 1))
net[0].weight.data.normal_(0, 0.01)
net[0].bias.data.fill_(0)
print(net)

loss = nn.MSELoss()
trainer = torch.optim.SGD(net.parameters(), lr=0.03)

for epoch in range(3):
    for X, y in data_iter:
        l = loss(net(X), y)
        trainer.zero_grad()
        l.backward()
        trainer.step()
    l = loss(net(features), labels)
    print(f"epoch {epoch + 1}, loss {l:f}")

w = net[0].weight.data
print("w:", w, "b:", net[0].bias.item())
print(trainer)
