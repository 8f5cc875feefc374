import microtape as mt

# A network of modules learns which of three places a point belongs to.
#
# Look at: the names. A parameter is named by its path in the model, such as
# hidden.0.weight, and the operations of a module's call are folded under its
# path. The gradient of hidden.0.bias is 0: the norm behind it subtracts the
# mean, which takes the bias away again. So is what the optimiser takes off it.

nn = mt.nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.hidden = nn.Sequential(
            nn.Linear(features, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.LayerNorm(hidden),
            nn.Tanh(),
        )
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.hidden(x))


mt.manual_seed(0)
centres = mt.tensor([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])
kinds = mt.arange(24) % 3
points = centres[kinds] + 0.2 * mt.randn(24, 2)

model = Classifier(2, 8, 3)
print(model)
print(sum(parameter.numel() for parameter in model.parameters()), "parameters")
loss_function = nn.CrossEntropyLoss()
optimizer = mt.optim.SGD(model.parameters(), lr=0.2)

for epoch in range(20):
    model.train()
    loss = loss_function(model(points), kinds)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}  loss {loss.item():.3f}  norm {norm.item():.3f}")

model.eval()
with mt.no_grad():
    right = (model(points).argmax(1) == kinds).sum().item()
print(right, "of", len(kinds), "right")
print(list(model.state_dict()))
