import torch
from torch import nn

torch.manual_seed(0)
letters, author = torch.randn(6, 9, 8), torch.randint(0, 3, (6,))
encoder, key, head, weigh = nn.GRU(8, 12, batch_first=True), nn.Linear(12, 12), nn.Linear(12, 3), nn.Softmax(dim=1)
layers = nn.ModuleList([encoder, key, head])
optimizer = torch.optim.Adam(layers.parameters(), lr=1e-2)
for epoch in range(3):
    states, last = encoder(letters)
    scores = torch.bmm(key(states), last.transpose(0, 1).transpose(1, 2))
    context = torch.bmm(weigh(scores).transpose(1, 2), states).squeeze(1)
    loss = nn.functional.cross_entropy(head(context), author)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
