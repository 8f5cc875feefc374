import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
words = torch.randint(0, 20, (4, 9))
table, inputs, head = nn.Embedding(20, 8), nn.Linear(8, 24), nn.Linear(16, 20)
layers = nn.ModuleList([table, inputs, head])
optimizer = torch.optim.Adam(layers.parameters(), lr=1e-2)
ones = torch.ones(9, 9)
masks = ones.tril(diagonal=-1) == 1, ones.triu(diagonal=1) == 1
for step in range(3):
    q, k, v = inputs(table(words)).chunk(3, dim=-1)
    scores = q @ k.transpose(1, 2) / 8**0.5
    backward, forward = (F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1) @ v for mask in masks)
    both = torch.cat([forward[:, :-2], backward[:, 2:]], dim=-1)  # what is before a word, and what is after it
    loss = F.cross_entropy(head(both).flatten(0, 1), words[:, 1:-1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
