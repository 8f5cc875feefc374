import microtape as mt

mt.manual_seed(0)
artist, critic = mt.nn.Linear(3, 4), mt.nn.Linear(4, 1)
artist_step = mt.optim.SGD(artist.parameters(), lr=0.1)
critic_step = mt.optim.SGD(critic.parameters(), lr=0.1)
loss = mt.nn.BCEWithLogitsLoss()
real, fake = mt.ones(8, 1), mt.zeros(8, 1)
for painting in range(3):
    painted = artist(mt.randn(8, 3))
    critic_step.zero_grad()
    judged = loss(critic(mt.randn(8, 4)), real) + loss(critic(painted.detach()), fake)
    judged.backward()
    critic_step.step()
    artist_step.zero_grad()
    fooled = loss(critic(painted), real)
    fooled.backward()
    critic_step.step()  # now that it has judged the artist
