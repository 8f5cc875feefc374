import microtape as mt

x = mt.tensor([[0.5, 1.0], [1.0, -1.0], [0.0, 2.0]])
y = mt.tensor([[1.0], [0.0], [2.0]])
parameters = [mt.tensor([[0.1], [0.2]], requires_grad=True), mt.zeros(1, requires_grad=True)]
rate = 0.1


def model(x, parameters):
    W, b = parameters
    return x @ W + b


for epoch in range(5):
    loss = ((model(x, parameters) - y) ** 2).mean()
    loss.backward()
    parameters = [p - rate * p.grad for p in parameters]
    print(f"{epoch}: {loss.item():.4f}")
