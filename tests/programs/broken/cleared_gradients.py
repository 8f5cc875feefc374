import microtape as mt

mt.manual_seed(1)
x = mt.linspace(-1.0, 1.0, 20).unsqueeze(1)
y = 3 * x - 1
w1, b1 = mt.randn(1, 8, requires_grad=True), mt.zeros(8, requires_grad=True)
w2, b2 = mt.randn(8, 1, requires_grad=True), mt.zeros(1, requires_grad=True)
optimizer = mt.optim.SGD([w1, b1, w2, b2], lr=0.05, momentum=0.9)


def train_step(x, y):
    loss = (((x @ w1 + b1).tanh() @ w2 + b2 - y) ** 2).mean()
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


for epoch in range(10):
    print(epoch, train_step(x, y))
