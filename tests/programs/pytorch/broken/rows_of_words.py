import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
words, kinds = torch.randn(12, 8), torch.randint(0, 4, (12,))
for epoch in range(3):
    shares = nn.functional.log_softmax(model(words), dim=0)
    loss = nn.functional.nll_loss(shares, kinds)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
