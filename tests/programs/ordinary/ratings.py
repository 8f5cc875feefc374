import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
readers, books = nn.Embedding(BATCH + 1, OUTPUTS), nn.Embedding(CLASSES + 1, OUTPUTS)
of_reader, of_book = nn.Embedding(BATCH + 1, 1), nn.Embedding(CLASSES + 1, 1)
modules = nn.ModuleList([readers, books, of_reader, of_book])
optimizer = OPTIMIZER(modules.parameters(), lr=1e-3)
for step in range(STEPS):
    reader, book = torch.randint(0, BATCH + 1, (BATCH,)), torch.randint(0, CLASSES + 1, (BATCH,))
    guess = (readers(reader) * books(book)).sum(1) + of_reader(reader).squeeze(1) + of_book(book).squeeze(1)
    loss = F.huber_loss(guess, torch.rand(BATCH) * 5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
