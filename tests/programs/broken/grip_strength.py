import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
weights = model.parameters()
optimizer = optim.Adam(weights, lr=0.01)
fingers, strength = mt.randn(16, 3), mt.randn(16, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(model(fingers), strength)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with mt.no_grad():
        for weight in weights:
            weight.clamp_(-0.2, 0.2)
