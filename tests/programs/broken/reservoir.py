import microtape as mt

inflow = mt.tensor([0.4, 0.6, 0.5, 0.7])
wanted = mt.tensor([1.8, 2.2, 2.0, 2.6])
capacity = 1.0
opening = mt.tensor(1.0, requires_grad=True)

for epoch in range(12):
    level = opening * inflow
    stress = -(1 - level / capacity).log()
    loss = ((stress - wanted) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        opening -= 0.08 * opening.grad
    opening.grad = None
    print(f"{epoch}: opening {opening.item():.3f}, loss {loss.item():.3f}")
