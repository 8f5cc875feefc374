import torch
from torch import nn

torch.manual_seed(0)
verses = torch.randint(0, 15, (16, 9))
embedding = nn.Embedding(16, 12)
reader, cell = nn.LSTM(12, 20, batch_first=True), nn.LSTM(12, 20, batch_first=True)
head = nn.Linear(20, 15)
modules = nn.ModuleList([embedding, reader, cell, head])
optimizer = torch.optim.Adam(modules.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for step in range(4):
    _, state = reader(embedding(verses))
    begun = torch.cat([torch.full((16, 1), 15), verses[:, :-1]], dim=1)
    output, _ = cell(embedding(begun), state)
    loss = criterion(head(output).transpose(1, 2), verses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
