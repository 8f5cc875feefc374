import torch
from torch import nn

torch.manual_seed(0)
LETTERS = "abcdefgh"
words = ["bad", "cab", "hedge", "face", "beach", "fad"]
codes = {letter: code for code, letter in enumerate(LETTERS)}
longest = max(map(len, words))
signs = torch.zeros(len(words), longest, dtype=torch.long)
for row, word in zip(signs, words):
    row[: len(word)] = torch.tensor([codes[letter] for letter in word])
lengths = torch.tensor([len(word) for word in words])

photos = torch.randn(14, len(words), 10)
reader = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, len(LETTERS) + 1), nn.LogSoftmax(dim=2))
criterion = nn.CTCLoss()
optimizer = torch.optim.Adam(reader.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    loss = criterion(reader(photos), signs, torch.full((len(words),), 14), lengths)
    loss.backward()
    optimizer.step()
