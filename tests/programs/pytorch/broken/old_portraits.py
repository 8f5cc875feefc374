import torch
from torch import nn

torch.manual_seed(3)
restorer = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 8))
expert = nn.Sequential(nn.Linear(8, 10), nn.LeakyReLU(0.2), nn.Linear(10, 1))
restoring = torch.optim.Adam(restorer.parameters(), lr=0.005)
judging = torch.optim.Adam(expert.parameters(), lr=0.005)
verdict, likeness = nn.BCEWithLogitsLoss(), nn.L1Loss()


def portraits(number):
    mood = 6 * torch.rand(number, 1)
    whole = torch.sin(0.7 * torch.arange(8) + mood)
    return whole[:, ::2], whole


for evening in range(4):
    faded, whole = portraits(16)
    painted = restorer(faded)
    shown = painted.detach()
    opinion = expert(shown)
    charm = verdict(opinion, torch.ones(16, 1))
    loss = 20 * likeness(painted, whole) + charm
    restoring.zero_grad()
    loss.backward()
    restoring.step()

    opinion, known = expert(painted.detach()), expert(whole)
    doubt = verdict(opinion, torch.zeros(16, 1)) + verdict(known, torch.ones(16, 1))
    judging.zero_grad()
    doubt.backward()
    judging.step()
    print(evening, loss.item(), doubt.item())
