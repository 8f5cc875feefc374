import microtape as mt

# A training loop: batches, an optimiser, a schedule.
#
# The DataLoader shuffles the rows anew in each epoch. The optimiser holds the
# two parameters; its step changes them by their gradients, with momentum, and
# makes W a little smaller (weight decay). The schedule halves the learning
# rate after each epoch.
#
# Look at: `microtape step --pass all`, where the tape shows what each step has
# changed. `s` lists the passes and compares two of them.

mt.manual_seed(0)
x = mt.randn(48, 2)
y = x @ mt.tensor([[2.0], [-3.0]]) + 1 + 0.1 * mt.randn(48, 1)
rows = mt.utils.data.TensorDataset(x, y)
train, test = mt.utils.data.random_split(rows, [0.75, 0.25])
loader = mt.utils.data.DataLoader(train, batch_size=12, shuffle=True)

W = mt.zeros(2, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
groups = [{"params": [W], "weight_decay": 0.01}, {"params": [b]}]
optimizer = mt.optim.SGD(groups, lr=0.2, momentum=0.5)
scheduler = mt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)

for epoch in range(3):
    for inputs, targets in loader:
        guess = inputs @ W + b
        loss = ((guess - targets) ** 2).mean()

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()

    with mt.no_grad():
        inputs, targets = test[:]
        error = ((inputs @ W + b - targets) ** 2).mean()
    (rate, _) = scheduler.get_last_lr()
    print(f"epoch {epoch}: error {error.item():.3f}, next rate {rate}")
print("W =", W.flatten().tolist())
print("b =", b.item())
