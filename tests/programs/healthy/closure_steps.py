import microtape as mt

x = mt.linspace(-2.0, 2.0, 25)
y = x**3 - x
c = mt.zeros(4, requires_grad=True)
optimizer = mt.optim.RMSprop([c], lr=0.02, momentum=0.5)


def closure():
    optimizer.zero_grad()
    loss = (sum(c[i] * x**i for i in range(4)) - y).pow(2).mean()
    loss.backward()
    return loss


for step in range(30):
    loss = optimizer.step(closure)
print(round(loss.item(), 3))
