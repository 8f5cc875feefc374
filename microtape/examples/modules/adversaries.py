import microtape as mt

# A GAN (Goodfellow et al., 2014): two networks learn against each other. The
# generator makes numbers; the discriminator tells them from those of a normal
# distribution around 3.
#
# Look at: the first pass of each step, which `detach` keeps out of the
# generator, and the second, which goes through the discriminator but must not
# change it.

nn = mt.nn

mt.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
discriminator = nn.Sequential(
    nn.Linear(1, 16),
    nn.LeakyReLU(0.2),
    nn.Linear(16, 1),
)
betas = (0.5, 0.999)
optimizer_g = mt.optim.Adam(generator.parameters(), lr=0.01, betas=betas)
optimizer_d = mt.optim.Adam(discriminator.parameters(), lr=0.01, betas=betas)
loss_function = nn.BCEWithLogitsLoss()
real, fake = mt.ones(32, 1), mt.zeros(32, 1)

for step in range(60):
    data = 3 + 0.5 * mt.randn(32, 1)
    made = generator(mt.randn(32, 4))

    optimizer_d.zero_grad()
    of_data = loss_function(discriminator(data), real)
    of_made = loss_function(discriminator(made.detach()), fake)
    loss_d = of_data + of_made
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = loss_function(discriminator(made), real)
    loss_g.backward()
    optimizer_g.step()
    if step % 20 == 0:
        mean = made.mean().item()
        print(f"{step} {loss_d.item():.2f} {loss_g.item():.2f} {mean:.2f}")
