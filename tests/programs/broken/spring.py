import microtape as mt

stretch = mt.tensor([0.5, 1.0, 1.5, 2.0])
force = mt.tensor([1.1, 2.0, 3.1, 3.9])
stiffness = mt.tensor(1.0, requires_grad=True)

for epoch in range(5):
    loss = ((stiffness * stretch - force) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        stiffness -= 5.0 * stiffness.grad
        stiffness.grad.zero_()
    print(f"epoch {epoch}: stiffness {stiffness.item():.3g}, loss {loss.item():.3g}")
