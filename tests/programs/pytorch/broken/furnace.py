import torch

torch.manual_seed(0)
outside, wanted = torch.rand(10) * 20, torch.tensor(21.0)
gain, offset = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.SGD([gain, offset], lr=1e-3)
for day in range(4):
    optimizer.zero_grad()
    errors = [(gain * t + offset - wanted).square().item() for t in outside]
    loss = torch.tensor(sum(errors) / len(errors), requires_grad=True)
    loss.backward()
    optimizer.step()
