import torch
from torch import nn

torch.manual_seed(0)
tagger = nn.LSTM(4, 6)
out = nn.Linear(6, 3)
optimizer = torch.optim.Adam([*tagger.parameters(), *out.parameters()], lr=0.001)
for paragraph in range(4):
    optimizer.zero_grad()
    for sentence in range(2 + paragraph % 2):
        words, tags = torch.randn(5, 4), torch.randint(0, 3, (5,))
        loss = nn.functional.cross_entropy(out(tagger(words)[0]), tags)
        loss.backward()
    optimizer.step()
