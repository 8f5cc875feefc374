import microtape as mt

mt.manual_seed(9)
ports, ferries = 4, 7
time = mt.rand(ports, ferries)
weight = mt.ones(ports, ferries, requires_grad=True)
for step in range(4):
    cost = weight * time
    by_ferry = cost.view((ferries, ports)).sum(dim=1)
    loss = ((by_ferry - time.sum(dim=0)) ** 2).mean()
    weight.grad = None
    loss.backward()
    with mt.no_grad():
        weight -= 0.1 * weight.grad
print(f"loss {loss.item():.4f}")
