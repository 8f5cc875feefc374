import torch

torch.manual_seed(0)
player = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
boards, moves = torch.randn(32, 6), torch.randint(0, 4, (32,))
allowed = torch.rand(32, 4) < 0.6
allowed[torch.arange(32), moves] = True
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(player.parameters(), lr=0.1)
for _ in range(3):
    scores = player(boards).masked_fill(~allowed, -torch.inf)
    loss = criterion(scores, moves)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
