import torch

torch.manual_seed(1)
beds, yields = torch.randn(48, 4), torch.randn(48, 1)


def plan(width):
    return torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))


garden = plan(width=12)
optimizer = torch.optim.SGD(garden.parameters(), lr=0.2)
best = {k: v.clone() for k, v in garden.state_dict().items()}
for season in range(12):
    loss = torch.nn.functional.mse_loss(garden(beds), yields)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
    if season == 3:
        best = {k: v.clone() for k, v in garden.state_dict().items()}
    if season == 7:
        garden = plan(12)
        garden.load_state_dict(best)
