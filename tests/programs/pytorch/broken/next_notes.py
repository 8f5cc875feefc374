import torch
from torch import nn

torch.manual_seed(0)
query, key, value, out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 12)
melody, following = torch.randn(4, 6, 8), torch.randint(0, 12, (4, 6))
later = torch.ones(6, 6).triu(1) == 1
scores = query(melody) @ key(melody).transpose(1, 2) / 8**0.5
scores.masked_fill(later, float("-inf"))
heard = scores.softmax(dim=-1) @ value(melody)
loss = nn.functional.cross_entropy(out(heard).flatten(0, 1), following.flatten())
loss.backward()
