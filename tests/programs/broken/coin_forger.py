import microtape as mt


def parameters(rows, columns, scale):
    return (mt.arange(rows * columns).reshape(rows, columns).sin() * scale).requires_grad_()


def discriminate(x):
    return ((x @ D1).tanh() @ D2).sigmoid()


real = mt.tensor([[1.0, 2.0], [1.1, 1.9], [0.9, 2.2]])
noise = mt.tensor([[0.1, -0.4], [0.6, 0.2], [-0.3, 0.5]])
G = parameters(2, 2, 0.5)
D1, D2 = parameters(2, 4, 0.7), parameters(4, 1, 0.9)
rate = 0.05

fake = noise @ G
score_fake = discriminate(fake)
d_loss = -(discriminate(real).log() + (1 - score_fake).log()).mean()
g_loss = -score_fake.log().mean()

d_loss.backward(retain_graph=True)
with mt.no_grad():
    for p in (D1, D2):
        p -= rate * p.grad
        p.grad = None
G.grad = None

g_loss.backward()
with mt.no_grad():
    G -= rate * G.grad
