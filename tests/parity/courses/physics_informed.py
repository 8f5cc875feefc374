"""A physics-informed network for the damped oscillator: its loss has the second derivative of the network."""

import torch
import torch.nn as nn

torch.manual_seed(123)


def oscillator(d, w0, t):
    w = (w0**2 - d**2) ** 0.5
    phi = torch.atan(torch.tensor(-d / w))
    A = 1 / (2 * torch.cos(phi))
    return torch.exp(-d * t) * 2 * A * torch.cos(phi + w * t)


class FCN(nn.Module):
    def __init__(self, n_input, n_output, n_hidden, n_layers):
        super().__init__()
        activation = nn.Tanh
        self.fcs = nn.Sequential(nn.Linear(n_input, n_hidden), activation())
        self.fch = nn.Sequential(
            *[nn.Sequential(nn.Linear(n_hidden, n_hidden), activation()) for _ in range(n_layers - 1)]
        )
        self.fce = nn.Linear(n_hidden, n_output)

    def forward(self, x):
        return self.fce(self.fch(self.fcs(x)))


d, w0 = 2.0, 10.0
mu, k = 2 * d, w0**2
pinn = FCN(1, 1, 16, 2)
t_boundary = torch.tensor(0.0).view(-1, 1).requires_grad_(True)
t_physics = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_(True)
t_test = torch.linspace(0, 1, 50).view(-1, 1)
u_exact = oscillator(d, w0, t_test)
optimiser = torch.optim.Adam(pinn.parameters(), lr=1e-2)
lambda1, lambda2 = 1e-1, 1e-4
for i in range(31):
    optimiser.zero_grad()
    u = pinn(t_boundary)
    loss1 = (torch.squeeze(u) - 1) ** 2
    dudt = torch.autograd.grad(u, t_boundary, torch.ones_like(u), create_graph=True)[0]
    loss2 = (torch.squeeze(dudt) - 0) ** 2
    u = pinn(t_physics)
    dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
    loss3 = torch.mean((d2udt2 + mu * dudt + k * u) ** 2)
    loss = loss1 + lambda1 * loss2 + lambda2 * loss3
    loss.backward()
    optimiser.step()
    if i % 10 == 0:
        u = pinn(t_test).detach()
        print(i, f"loss {loss.item():.5f}", f"error {torch.mean((u - u_exact) ** 2):.5f}")
print(t_physics.grad is None, pinn.fce.bias.grad)
