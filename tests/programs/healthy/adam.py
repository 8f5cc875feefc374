import microtape as mt

x = mt.linspace(-1.0, 1.0, 9)
y = 0.5 - x**2
p = mt.zeros(3, requires_grad=True)
m, v = mt.zeros(3), mt.zeros(3)

for step in range(1, 31):
    loss = ((p[0] + p[1] * x + p[2] * x**2 - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        m += 0.1 * (p.grad - m)
        v += 0.01 * (p.grad**2 - v)
        p -= 0.05 * (m / (1 - 0.9**step)) / ((v / (1 - 0.99**step)).sqrt() + 1e-8)
        p.grad = None
print([round(one, 2) for one in p.tolist()])
