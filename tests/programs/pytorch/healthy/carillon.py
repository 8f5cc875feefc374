import torch
from torch import nn

torch.manual_seed(0)
tunes = torch.randint(0, 10, (15, 4))  # a tune is a column
bell, turn = nn.Embedding(10, 12), nn.Embedding(14, 12)
attention, norm, head = nn.MultiheadAttention(12, 3), nn.LayerNorm(12), nn.Linear(12, 10)
late = torch.ones(14, 14).tril() == 0
layers = nn.ModuleList([bell, turn, attention, norm, head])
optimizer = torch.optim.RMSprop(layers.parameters(), lr=0.003)
for hour in range(3):
    x = bell(tunes[:-1]) + turn(torch.arange(14)).unsqueeze(1)
    heard, weights = attention(x, x, x, attn_mask=late)
    scores = head(norm(x + heard))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tunes[1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
