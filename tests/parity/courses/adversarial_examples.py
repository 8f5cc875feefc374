"""Adversarial examples of a small classifier: the fast gradient sign method, iterated, and a targeted one."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(42)
y = torch.arange(60) % 3
x = torch.rand(60, 1, 6, 6) * 0.3
for i in range(60):
    x[i, 0, 2 * y[i] : 2 * y[i] + 2] += 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(16, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


model = Net()
optimizer = optim.Adam(model.parameters(), lr=0.03)
for epoch in range(15):
    optimizer.zero_grad()
    loss = F.nll_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"trained: loss {loss.item():.4f}")
model.eval()


def fgsm_attack(image, epsilon, data_grad):
    sign_data_grad = data_grad.sign()
    perturbed_image = image + epsilon * sign_data_grad
    return torch.clamp(perturbed_image, 0, 1)


def test(epsilon):
    correct = 0
    for data, target in zip(x[:6].split(1), y[:6].split(1)):
        data = data.clone()
        data.requires_grad = True
        output = model(data)
        init_pred = output.max(1, keepdim=True)[1]
        if init_pred.item() != target.item():
            continue
        loss = F.nll_loss(output, target)
        model.zero_grad()
        loss.backward()
        perturbed = fgsm_attack(data, epsilon, data.grad.data)
        final_pred = model(perturbed).max(1, keepdim=True)[1]
        correct += int(final_pred.item() == target.item())
    print(f"Epsilon: {epsilon}\tTest Accuracy = {correct} / 6")


for epsilon in [0, 0.1, 0.4]:
    test(epsilon)

delta = torch.zeros_like(x[:1], requires_grad=True)
target = torch.tensor([2])
for t in range(8):
    loss = F.nll_loss(model(x[:1] + delta), target)
    loss.backward()
    delta.data = (delta - 0.1 * delta.grad.detach().sign()).clamp(-0.5, 0.5)
    delta.grad.zero_()
probabilities = model(x[:1] + delta).exp()
print(f"true class {y[0]}, predicted {probabilities.argmax()}, {probabilities.data}")
