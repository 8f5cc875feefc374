import torch
from torch import nn

torch.manual_seed(2)
voices = nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Linear(24, 4))
optimizer = torch.optim.AdamW(voices.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu")
songs = torch.randn(64, 10)
parts = songs[:, :4].argmax(1)


def rehearse(batch, wanted):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(voices(batch), wanted)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(voices.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


for evening in range(8):
    print(evening, sum(rehearse(*one) for one in zip(songs.split(16), parts.split(16))))
