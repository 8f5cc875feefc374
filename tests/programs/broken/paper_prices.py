import microtape as mt
from microtape import nn

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
fibres, price = mt.rand(20, 3), mt.rand(20, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(model(fibres), price)
    model.zero_grad()
    loss.backward()
    with mt.no_grad():
        for weight in model.parameters():
            weight = weight - 0.1 * weight.grad
