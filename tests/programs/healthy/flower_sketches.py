import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(0)
petals = mt.rand(24, 6)
look, centre, spread = nn.Linear(6, 12), nn.Linear(12, 2), nn.Linear(12, 2)
draw = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 6))
parts = nn.ModuleList([look, centre, spread, draw])
optimizer = mt.optim.Adam(parts.parameters(), lr=0.01)
for sketch in range(4):
    h = look(petals).tanh()
    mu, logvar = centre(h), spread(h)
    code = mu + (0.5 * logvar).exp() * mt.randn_like(mu)
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(dim=1).mean()
    loss = F.mse_loss(draw(code), petals) + 0.01 * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
