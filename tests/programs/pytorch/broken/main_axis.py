import torch

torch.manual_seed(0)
spread = torch.eye(3, requires_grad=True)
wanted = torch.tensor([0.0, 0.6, 0.8])
lengths, axes = torch.linalg.eigh(spread)
loss = 1 - (axes[:, -1] * wanted).sum().square()
loss.backward()
