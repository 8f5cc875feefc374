import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
entries = [torch.randint(1, 13, (n,)) for n in (14, 6, 9, 4, 11, 5)]
pages = pad_sequence(entries, batch_first=True, padding_value=0)
read, coming = pages[:, :-1], pages[:, 1:]


class Mate(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(13, 12, padding_idx=0)
        self.cell = nn.LSTM(12, 20, num_layers=2, batch_first=True)
        self.out = nn.Linear(20, 13)

    def forward(self, seen):
        states, _ = self.cell(self.words(seen))
        return self.out(states)


mate = Mate()
optimizer = torch.optim.Adam(mate.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for watch in range(3):
    loss = criterion(mate(read).reshape(-1, 13), coming.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
