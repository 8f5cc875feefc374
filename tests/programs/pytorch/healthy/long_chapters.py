import torch
from torch import nn

torch.manual_seed(0)
reader, guess = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 1)
parameters = [*reader.parameters(), *guess.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=1e-3)
x, y = torch.randn(4, 7, 3), torch.randn(4, 1)
for epoch in range(4):
    out, (h, c) = reader(x)
    loss = nn.functional.mse_loss(guess(h[-1]), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
