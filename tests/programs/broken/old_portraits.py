import microtape as mt
from microtape import nn

mt.manual_seed(3)
restorer = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 8))
expert = nn.Sequential(nn.Linear(8, 10), nn.LeakyReLU(0.2), nn.Linear(10, 1))
restoring = mt.optim.Adam(restorer.parameters(), lr=0.005)
judging = mt.optim.Adam(expert.parameters(), lr=0.005)
verdict, likeness = nn.BCEWithLogitsLoss(), nn.L1Loss()


def portraits(number):
    mood = 6 * mt.rand(number, 1)
    whole = mt.sin(0.7 * mt.arange(8) + mood)
    return whole[:, ::2], whole


for evening in range(4):
    faded, whole = portraits(16)
    painted = restorer(faded)
    shown = painted.detach()
    opinion = expert(shown)
    charm = verdict(opinion, mt.ones(16, 1))
    loss = 20 * likeness(painted, whole) + charm
    restoring.zero_grad()
    loss.backward()
    restoring.step()

    opinion, known = expert(painted.detach()), expert(whole)
    doubt = verdict(opinion, mt.zeros(16, 1)) + verdict(known, mt.ones(16, 1))
    judging.zero_grad()
    doubt.backward()
    judging.step()
    print(evening, loss.item(), doubt.item())
