import torch
from torch import nn

torch.manual_seed(0)
singer = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
listener = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
singer_steps = torch.optim.Adam(singer.parameters(), lr=0.001, betas=(0.5, 0.999))
listener_steps = torch.optim.Adam(listener.parameters(), lr=0.001, betas=(0.5, 0.999))
judge = nn.BCEWithLogitsLoss()

for song in range(6):
    real = torch.linspace(0, 3, 8).sin() + 0.1 * torch.randn(32, 8)
    sung = singer(torch.randn(32, 4))
    listener_steps.zero_grad()
    heard = judge(listener(real), torch.ones(32, 1)) + judge(listener(sung.detach()), torch.zeros(32, 1))
    heard.backward()
    listener_steps.step()

    fooled = judge(listener(sung), torch.ones(32, 1))
    fooled.backward()
    singer_steps.step()
    singer_steps.zero_grad()
