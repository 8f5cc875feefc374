import torch

torch.manual_seed(0)
mixing = torch.nn.Parameter(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
points = torch.randn(64, 2) * torch.tensor([1.0, 3.0])
optimizer = torch.optim.SGD([mixing], lr=0.01)
for _ in range(3):
    turned = points @ mixing
    likelihood = -0.5 * (turned**2).sum(1) + torch.logdet(mixing)
    loss = -likelihood.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
