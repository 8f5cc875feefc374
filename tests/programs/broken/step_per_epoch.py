import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(4, 2)
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)


def train():
    for _ in range(3):
        images, labels = mt.randn(8, 4), mt.randn(8, 2)
        optimizer.zero_grad()
        loss = ((model(images) - labels) ** 2).mean()
        loss.backward()


for _ in range(3):
    train()
    optimizer.step()
