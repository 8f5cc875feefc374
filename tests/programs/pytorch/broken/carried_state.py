import torch
from torch import nn

torch.manual_seed(0)


class CharRNN(nn.Module):
    def __init__(self, vocab=12, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.lstm = nn.LSTM(8, hidden, num_layers=2, batch_first=True, dropout=0.2)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.fc(out), state


model = CharRNN()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
sequence = torch.randint(0, 12, (4, 33))
state = None
for start in range(0, 32, 8):
    x = sequence[:, start : start + 8]
    y = sequence[:, start + 1 : start + 9]
    if state is not None:
        state = tuple(s for s in state)
    logits, state = model(x, state)
    loss = criterion(logits.transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
