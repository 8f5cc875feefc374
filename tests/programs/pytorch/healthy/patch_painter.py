import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.blocks = nn.Linear(6, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.blocks(self.embedding(x)).mean(1))


class Painter(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.to_pixels = encoder, nn.Linear(8, 6)

    def forward(self, patches):
        seen = torch.rand(patches.shape[:2]).unsqueeze(-1) > 0.5
        painted = self.to_pixels(self.encoder.blocks(self.encoder.embedding(patches * seen)))
        return (painted - patches).square().mean()


painter = Painter(Classifier())
optimizer = torch.optim.Adam(painter.parameters(), lr=0.01)
for step in range(3):
    loss = painter(torch.rand(16, 5, 6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
