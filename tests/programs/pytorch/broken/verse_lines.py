import torch
from torch import nn

torch.manual_seed(0)
verses = torch.randint(0, 15, (16, 9))
embedding = nn.Embedding(15, 12)
cell = nn.LSTM(12, 20, batch_first=True)
head = nn.Linear(20, 15)
optimizer = torch.optim.Adam([*embedding.parameters(), *cell.parameters(), *head.parameters()], lr=0.01)
criterion = nn.CrossEntropyLoss()
for step in range(4):
    output, _ = cell(embedding(verses))
    loss = criterion(head(output).transpose(1, 2), verses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
