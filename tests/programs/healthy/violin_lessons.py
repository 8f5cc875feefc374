import microtape as mt


class Lesson:
    def __init__(self, player):
        self.player = player
        self.optimizer = mt.optim.Adam(player.parameters(), lr=0.01)

    def hear(self, opinions):
        for opinion in opinions:
            opinion.backward(retain_graph=True)

    def learn(self, opinions):
        self.optimizer.zero_grad()
        self.hear(opinions)
        self.optimizer.step()


mt.manual_seed(2)
player = mt.nn.Linear(5, 2)
lesson = Lesson(player)
notes, pitch, rhythm = mt.rand(8, 5), mt.rand(8, 2), mt.rand(8, 2)
for week in range(5):
    played = player(notes)
    sharp = mt.nn.functional.l1_loss(played, pitch)
    late = mt.nn.functional.mse_loss(played, rhythm)
    lesson.learn([sharp, late])
    print(week, sharp.item(), late.item())
