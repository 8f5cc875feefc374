import torch

torch.manual_seed(1)
slope = torch.tensor([0.0, 0.0], requires_grad=True)
for task in range(3):
    target = torch.tensor([1.0, -1.0]) + 0.1 * torch.randn(2)
    x = torch.randn(16, 2)
    start = slope.detach()
    for step in range(4):
        loss = ((x @ slope - x @ target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            slope -= 0.1 * slope.grad
        slope.grad = None
    with torch.no_grad():
        slope.copy_(start + 0.5 * (slope - start))
    print(f"loss {loss.item():.4f}, slope {slope.tolist()}")
