import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embedding = nn.Embedding(words, 12, padding_idx=0)
        self.lstm = nn.LSTM(12, 16, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.cell = nn.LSTMCell(32, 16)
        self.head = nn.Linear(16, tags)

    def forward(self, sentences, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(sentences), lengths, batch_first=True)
        read, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        h = c = read.new_zeros(read.size(0), 16)
        scores = []
        for t in range(read.size(1)):
            h, c = self.cell(read[:, t], (h, c))
            scores.append(self.head(h))
        return torch.stack(scores, 1)


model = Tagger(50, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
lengths = torch.tensor([9, 7, 4])
sentences, tags = torch.randint(1, 50, (3, 9)), torch.randint(5, (3, 9))
mask = torch.arange(9) < lengths[:, None]
sentences[~mask] = 0
losses = []
for epoch in range(3):
    optimizer.zero_grad(set_to_none=False)
    scores = model(sentences, lengths)
    loss = nn.functional.cross_entropy(scores[mask], tags[mask])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    losses.append(loss.item())
