import microtape as mt

real = mt.tensor([[1.0, 2.0], [1.1, 1.9], [0.9, 2.2]])
noise = mt.tensor([[0.1, -0.4], [0.6, 0.2], [-0.3, 0.5]])
G = mt.tensor([[0.5, 0.1], [0.2, 0.6]], requires_grad=True)
D = mt.tensor([[0.3], [-0.2]], requires_grad=True)


def step(p, rate=0.05):
    with mt.no_grad():
        p -= rate * p.grad
    p.grad = None


for epoch in range(5):
    fake = noise @ G
    d_loss = -((real @ D).sigmoid().log() + (1 - (fake.detach() @ D).sigmoid()).log()).mean()
    d_loss.backward()
    step(D)

    g_loss = -(fake @ D).sigmoid().log().mean()
    g_loss.backward()
    step(G)
    D.grad = None
    print(f"{epoch}: {d_loss.item():.3f} {g_loss.item():.3f}")
