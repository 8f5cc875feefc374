import torch

F = torch.nn.functional
torch.manual_seed(0)
leaves = torch.randn(24, 5)
shares = (2 * torch.randn(24, 3)).softmax(dim=1)  # of black, green and white tea in each blend
taster = torch.nn.Sequential(torch.nn.Linear(5, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3))
optimizer = torch.optim.SGD(taster.parameters(), lr=0.1)
for tasting in range(4):
    guess = F.log_softmax(taster(leaves), dim=1)
    loss = F.kl_div(guess, shares, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"tasting {tasting}: {loss.item():.3f}")
