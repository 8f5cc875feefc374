import torch
from torch import nn

torch.manual_seed(0)
listener, letters = nn.GRU(8, 16, batch_first=True), nn.Linear(16, 12)
optimizer = torch.optim.Adam([*listener.parameters(), *letters.parameters()], lr=1e-3)
distance = nn.CTCLoss()
for _ in range(3):
    sound, words = torch.randn(4, 10, 8), torch.randint(1, 12, (4, 3))
    optimizer.zero_grad()
    scores = letters(listener(sound)[0]).log_softmax(-1).transpose(0, 1)
    loss = distance(scores, words, torch.full((4,), 10), torch.full((4,), 3))
    loss.backward()
    optimizer.step()
