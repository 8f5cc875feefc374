import microtape as mt

mt.manual_seed(1)
beds, yields = mt.randn(48, 4), mt.randn(48, 1)


def plan(width):
    return mt.nn.Sequential(mt.nn.Linear(4, width), mt.nn.ReLU(), mt.nn.Linear(width, 1))


garden = plan(width=12)
optimizer = mt.optim.SGD(garden.parameters(), lr=0.2)
best = {k: v.clone() for k, v in garden.state_dict().items()}
for season in range(12):
    loss = mt.nn.functional.mse_loss(garden(beds), yields)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(season, loss.item())
    if season == 3:
        best = {k: v.clone() for k, v in garden.state_dict().items()}
    if season == 7:
        garden = plan(12)
        garden.load_state_dict(best)
