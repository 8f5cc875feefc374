import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
words, cell = nn.Embedding(CLASSES + 1, HIDDEN), nn.GRU(HIDDEN, HIDDEN, batch_first=True)
bias = nn.Parameter(torch.zeros(CLASSES + 1))
optimizer = OPTIMIZER([*words.parameters(), *cell.parameters(), bias], lr=1e-3)
for step in range(STEPS):
    text = torch.randint(0, CLASSES + 1, (BATCH, 5))
    h, _ = cell(words(text[:, :-1]))
    scores = h @ words.weight.t() + bias
    loss = F.cross_entropy(scores.reshape(-1, CLASSES + 1), text[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
