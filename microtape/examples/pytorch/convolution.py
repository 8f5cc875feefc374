import torch
from torch import nn

# A small convolutional network on PyTorch, which tells horizontal stripes
# from vertical ones.
#
# Look at: max_pool2d_with_indices. Of each four numbers only the largest one
# gets the gradient. And look at what native_batch_norm sends to convolution:
# it sums to 0 in each channel, because adding the same number to a whole
# channel changes nothing after the norm.


class Stage(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.norm(self.conv(x))))


class Stripes(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(Stage(1, 3), Stage(3, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, images):
        pooled = self.stages(images).mean((2, 3))
        return self.head(pooled)


torch.manual_seed(0)
stripe = (torch.arange(8) // 2 % 2).float()
horizontal = stripe[:, None].expand(8, 8)
pair = [horizontal, horizontal.T]
images = torch.stack([*pair, *(1 - one for one in pair)])
images = images[:, None] + 0.2 * torch.randn(4, 1, 8, 8)
vertical = torch.tensor([0, 1, 0, 1])

model = Stripes()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for _ in range(20):
    loss = nn.functional.cross_entropy(model(images), vertical)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
