import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
songs = torch.zeros(6, 13, dtype=torch.long)
for i, length in enumerate((13, 5, 8, 4, 10, 6)):
    songs[i, :length] = torch.randint(1, 16, (length,))
translated = songs.flip(0)
words, notes = nn.Embedding(16, 16, padding_idx=0), nn.Embedding(16, 16, padding_idx=0)
model, out = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True), nn.Linear(16, 16)
layers = nn.ModuleList([words, notes, model, out])
optimizer = torch.optim.AdamW(layers.parameters(), lr=0.003)
causal = nn.Transformer.generate_square_subsequent_mask(12)
for evening in range(3):
    given = translated[:, :-1]
    states = model(
        words(songs),
        notes(given),
        tgt_mask=causal,
        src_key_padding_mask=songs == 0,
        tgt_key_padding_mask=torch.zeros(6, 12).masked_fill(given == 0, float("-inf")),
    )
    loss = F.cross_entropy(out(states).flatten(0, 1), translated[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
