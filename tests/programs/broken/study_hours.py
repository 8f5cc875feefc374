import microtape as mt
from microtape import nn

mt.manual_seed(0)
hours, scores = mt.rand(20, 1) * 10, mt.rand(20, 1)
model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(hours), scores)
    loss.backward()
    optimizer.step
