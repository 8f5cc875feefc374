import math

import torch
from torch import nn

torch.manual_seed(0)


class Translator(nn.Module):
    def __init__(self, words, width=16, heads=2, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(12, width) * 0.02)
        encoder = nn.TransformerEncoderLayer(width, heads, 32, dropout=0.1, batch_first=True)
        decoder = nn.TransformerDecoderLayer(width, heads, 32, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(encoder, layers)
        self.decoder = nn.TransformerDecoder(decoder, layers, norm=nn.LayerNorm(width))
        self.out = nn.Linear(width, words, bias=False)
        self.out.weight = self.embedding.weight
        self.width = width

    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.width) + self.positions[: tokens.size(1)]

    def forward(self, source, target):
        padding = source == 0
        memory = self.encoder(self.embed(source), src_key_padding_mask=padding)
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        hidden = self.decoder(
            self.embed(target), memory, tgt_mask=causal, tgt_is_causal=True, memory_key_padding_mask=padding
        )
        return self.out(hidden)


model = Translator(40)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
source, target = torch.randint(1, 40, (2, 8)), torch.randint(1, 40, (2, 6))
source[1, 5:] = 0
losses = []
for step in range(3):
    optimizer.zero_grad()
    scores = model(source, target[:, :-1])
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), target[:, 1:].flatten(), label_smoothing=0.1)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
