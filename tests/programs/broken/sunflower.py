import microtape as mt

mt.manual_seed(3)
days = mt.linspace(0, 1, 12)
height = 150 / (1 + (-10 * (days - 0.5)).exp())
limit = mt.tensor(1.0, requires_grad=True)
speed = mt.tensor(5.0, requires_grad=True)
middle = mt.tensor(0.3, requires_grad=True)

for round_ in range(40):
    optimizer = mt.optim.Adam([limit, speed, middle], lr=0.02)
    guess = 100 * limit * (speed * (days - middle)).sigmoid()
    loss = ((guess - height) / 100).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(limit.item(), speed.item(), middle.item())
