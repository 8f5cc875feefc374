import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab=50, dim=16, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(self.layer, num_layers=2)
        self.fc = nn.Linear(dim, classes)

    def forward(self, tokens):
        mask = tokens == 0
        h = self.encoder(self.embed(tokens), src_key_padding_mask=mask)
        return self.fc(h.mean(dim=1))


torch.manual_seed(0)
model = Classifier()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    tokens = torch.randint(1, 50, (4, 7))
    tokens[:, 5:] = 0
    y = torch.randint(0, 3, (4,))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), y)
    loss.backward()
    opt.step()
