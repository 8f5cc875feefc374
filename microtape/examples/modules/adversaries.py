import microtape as mt

# Two networks learn against each other (Goodfellow et al., 2014): one makes
# numbers, the other tells them from those of a normal distribution around 3.
#
# Look at: the first pass of each step, which `detach` keeps out of the generator,
# and the second, which goes through the discriminator but must not change it.

nn = mt.nn

mt.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
discriminator = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
of_generator = mt.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
of_discriminator = mt.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
loss_function = nn.BCEWithLogitsLoss()
real, fake = mt.ones(32, 1), mt.zeros(32, 1)

for step in range(60):
    data = 3 + 0.5 * mt.randn(32, 1)
    made = generator(mt.randn(32, 4))

    of_discriminator.zero_grad()
    error = loss_function(discriminator(data), real) + loss_function(discriminator(made.detach()), fake)
    error.backward()
    of_discriminator.step()

    of_generator.zero_grad()
    loss = loss_function(discriminator(made), real)
    loss.backward()
    of_generator.step()
    if step % 20 == 0:
        print(f"{step} {error.item():.2f} {loss.item():.2f} {made.mean().item():.2f}")
