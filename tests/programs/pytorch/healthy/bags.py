import torch
from torch import nn

torch.manual_seed(0)


class TextClassifier(nn.Module):
    def __init__(self, vocab=100, dim=8, classes=4):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.fc = nn.Linear(dim, classes)

    def forward(self, text, offsets):
        return self.fc(self.bag(text, offsets))


model = TextClassifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
for epoch in range(2):
    text, offsets = torch.randint(0, 100, (20,)), torch.tensor([0, 5, 9, 14])
    loss = nn.functional.cross_entropy(model(text, offsets), torch.tensor([0, 1, 2, 3]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
