import microtape as mt

# A small convolutional network tells horizontal stripes from vertical ones.
#
# Look at: max_pool2d. Of each four numbers only the largest one gets the
# gradient.

nn = mt.nn


class Stage(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(self.norm(self.conv(x)).relu())


def start(module):
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


mt.manual_seed(3)
stripes = (mt.arange(8) % 4 < 2).float()
horizontal = stripes.reshape(8, 1).expand(8, 8)
pair = [horizontal, horizontal.t()]
images = mt.stack([*pair, *[1 - one for one in pair]]).unsqueeze(1)
images = images + 0.2 * mt.randn(4, 1, 8, 8)
is_vertical = mt.tensor([0, 1, 0, 1])

model = nn.Sequential(
    Stage(1, 3),
    Stage(3, 4),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(4, 2),
    nn.LogSoftmax(dim=1),
)
model.apply(start)
criterion = nn.NLLLoss()
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)

for step in range(15):
    loss = criterion(model(images), is_vertical)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(step, f"{loss.item():.3f}")

print([name for name, _ in model.named_buffers()])
print("steps seen:", model[0].norm.num_batches_tracked.item())
