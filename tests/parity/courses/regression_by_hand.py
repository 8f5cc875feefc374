"""Linear regression with the gradients worked out on paper, against autograd and the normal equations."""

import torch

torch.manual_seed(42)

x = torch.linspace(0, 1, 30)
y = 2.5 * x - 0.7 + 0.05 * torch.randn(30)


def model(x, w, b):
    return w * x + b


def loss_fn(prediction, target):
    return ((prediction - target) ** 2).mean()


def gradient(x, y, w, b):
    error = model(x, w, b) - y
    return torch.stack([(2 * error * x).mean(), (2 * error).mean()])


params = torch.tensor([0.0, 0.0])
for epoch in range(1, 101):
    grad = gradient(x, y, *params)
    params = params - 0.5 * grad
    if epoch % 20 == 0:
        print(f"epoch {epoch}, loss {float(loss_fn(model(x, *params), y)):f}, grad {grad}")
print("by hand: ", params)

# the same with autograd
params = torch.tensor([0.0, 0.0], requires_grad=True)
for epoch in range(1, 31):
    if params.grad is not None:
        params.grad.zero_()
    loss = loss_fn(model(x, *params), y)
    loss.backward()
    assert torch.allclose(params.grad, gradient(x, y, *params.detach()), atol=1e-5)
    with torch.no_grad():
        params -= 0.5 * params.grad
print("autograd:", params)

# and exactly
X = torch.column_stack([x, torch.ones_like(x)])
solution = torch.linalg.lstsq(X, y.unsqueeze(1)).solution
print("exact:   ", solution.squeeze())
print("inverse: ", torch.inverse(X.T @ X) @ X.T @ y)
print("residual:", torch.norm(X @ solution - y[:, None]).item())
