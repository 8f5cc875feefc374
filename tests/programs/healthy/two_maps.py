import microtape as mt
from microtape import nn

mt.manual_seed(0)
eye, heights, colours = nn.Linear(6, 8), nn.Linear(8, 1), nn.Linear(8, 3)
eye_adam, heights_adam, colours_adam = (mt.optim.Adam(one.parameters(), lr=0.01) for one in (eye, heights, colours))

for _ in range(4):
    seen, height, colour = mt.randn(16, 6), mt.randn(16, 1), mt.randint(0, 3, (16,))
    loss = ((heights(eye(seen).tanh()) - height) ** 2).mean()
    loss.backward()
    heights_adam.step()
    heights_adam.zero_grad()

    loss = nn.functional.cross_entropy(colours(eye(seen).tanh()), colour)
    loss.backward()
    colours_adam.step()
    colours_adam.zero_grad()

    eye_adam.step()  # by both
    eye_adam.zero_grad()
