import torch
from torch import nn

torch.manual_seed(0)
artist, critic = nn.Linear(3, 4), nn.Linear(4, 1)
artist_step = torch.optim.SGD(artist.parameters(), lr=0.1)
critic_step = torch.optim.SGD(critic.parameters(), lr=0.1)
loss = nn.BCEWithLogitsLoss()
real, fake = torch.ones(8, 1), torch.zeros(8, 1)
for painting in range(3):
    painted = artist(torch.randn(8, 3))
    critic_step.zero_grad()
    judged = loss(critic(torch.randn(8, 4)), real) + loss(critic(painted.detach()), fake)
    judged.backward()
    critic_step.step()
    artist_step.zero_grad()
    fooled = loss(critic(painted), real)
    fooled.backward()
    critic_step.step()  # now that it has judged the artist
