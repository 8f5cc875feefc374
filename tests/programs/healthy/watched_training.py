import microtape as mt

x, y = mt.tensor([[0.1, 0.9], [0.8, 0.3], [0.4, 0.6]]), mt.tensor([[0.7], [0.6], [0.7]])
x_test, y_test = mt.tensor([[0.5, 0.5]]), mt.tensor([[0.68]])
W1 = mt.tensor([[0.5, -0.3], [0.2, 0.7]], requires_grad=True)
W2 = mt.tensor([[0.4], [0.3]], requires_grad=True)
path = []


def model(x):
    return (x @ W1).tanh() @ W2


for epoch in range(9):
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, W2):
            p -= 0.3 * p.grad
            p.grad.zero_()
        path.append(W2.detach().clone())
        if epoch % 4 == 0:
            print(epoch, round(((model(x_test) - y_test) ** 2).item(), 5))
print((path[-1] - path[0]).flatten())
