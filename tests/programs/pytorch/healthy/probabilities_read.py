"""Softmax and sigmoid where they belong: in an attention, in a gate, and where probabilities are read."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
tokens, width, classes = 6, 8, 3
query, key, value = (nn.Linear(width, width) for _ in range(3))
gate, head = nn.Linear(width, width), nn.Linear(width, classes)
parameters = [p for layer in (query, key, value, gate, head) for p in layer.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=0.01)
x, y = torch.randn(5, tokens, width), torch.randint(0, classes, (5,))
known = torch.randint(0, 2, (5, classes)).float()
for epoch in range(3):
    weights = (query(x) @ key(x).transpose(1, 2) / width**0.5).softmax(dim=-1)
    mixed = weights @ value(x)
    scores = head((mixed * gate(x).sigmoid()).mean(dim=1))
    soft = F.softmax(scores.detach() / 2, dim=1)
    loss = F.cross_entropy(scores, y) + F.kl_div(scores.log_softmax(dim=1), soft, reduction="batchmean")
    loss = loss + F.nll_loss(scores.softmax(dim=1).log(), y)
    loss = loss + F.binary_cross_entropy(scores.sigmoid(), known) + F.binary_cross_entropy_with_logits(scores, known)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), scores.softmax(dim=1).max(dim=1).values.mean().item())
