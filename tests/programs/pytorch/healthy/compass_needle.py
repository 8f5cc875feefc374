import torch

torch.manual_seed(0)
directions = torch.nn.functional.normalize(torch.randn(8, 3), dim=1)
directions[0] = torch.tensor([0.0, 0.0, 1.0])
turn = torch.nn.Linear(3, 3)
with torch.no_grad():
    turn.weight.copy_(torch.tensor([[0.9, 0.4, 0.0], [-0.4, 0.9, 0.0], [0.0, 0.0, 1.0]]))
    turn.bias.zero_()
optimizer = torch.optim.SGD(turn.parameters(), lr=0.001)
for _ in range(3):
    needles = torch.nn.functional.normalize(turn(directions), dim=1)
    cosine = (needles * directions).sum(1)
    angle = torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))
    loss = angle.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
