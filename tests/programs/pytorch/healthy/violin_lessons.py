import torch
from torch import nn


class Lesson:
    def __init__(self, player):
        self.player = player
        self.optimizer = torch.optim.Adam(player.parameters(), lr=0.01)

    def hear(self, opinions):
        for opinion in opinions:
            opinion.backward(retain_graph=True)

    def learn(self, opinions):
        self.optimizer.zero_grad()
        self.hear(opinions)
        self.optimizer.step()


torch.manual_seed(2)
player = nn.Linear(5, 2)
lesson = Lesson(player)
notes, pitch, rhythm = torch.rand(8, 5), torch.rand(8, 2), torch.rand(8, 2)
for week in range(5):
    played = player(notes)
    sharp = nn.functional.l1_loss(played, pitch)
    late = nn.functional.mse_loss(played, rhythm)
    lesson.learn([sharp, late])
    print(week, sharp.item(), late.item())
