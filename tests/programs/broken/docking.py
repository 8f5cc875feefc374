import microtape as mt
from microtape import nn

mt.manual_seed(0)
pilot = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1), nn.Tanh())
judge = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
pilot_adam, judge_adam = mt.optim.Adam(pilot.parameters(), lr=0.01), mt.optim.Adam(judge.parameters(), lr=0.01)

for trial in range(5):
    place = mt.randn(32, 3)
    thrust = pilot(place).detach() + 0.1 * mt.randn(32, 1)
    reward = -((place[:, :1] + thrust) ** 2)

    judge_loss = ((judge(mt.cat([place, thrust], 1)) - reward) ** 2).mean()
    judge_loss.backward()
    judge_adam.step()

    judge_adam.zero_grad()
    pilot_adam.zero_grad()
    pilot_loss = -judge(mt.cat([place, pilot(place)], 1)).mean()
    pilot_loss.backward()
    pilot_adam.step()
    print(trial, judge_loss.item(), pilot_loss.item())
