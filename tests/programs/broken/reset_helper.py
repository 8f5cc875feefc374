import microtape as mt

weights = [mt.tensor([[0.5, -0.3], [0.2, 0.8]], requires_grad=True), mt.tensor([[0.1], [0.4]], requires_grad=True)]
x = mt.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = mt.tensor([[1.0], [0.0], [0.5]])


def step(parameters):
    for p in parameters:
        gradient = p.grad
        p -= 0.1 * gradient
        gradient = mt.zeros_like(gradient)


for epoch in range(25):
    hidden = (x @ weights[0]).tanh()
    loss = ((hidden @ weights[1] - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        step(weights)
    if epoch % 5 == 0:
        print(epoch, round(loss.item(), 4))
