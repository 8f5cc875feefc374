import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(0)
photos = mt.randn(12, 10)
partner = mt.tensor([*range(12, 24), *range(12)])
looking = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8))
optimizer = mt.optim.Adam(looking.parameters(), lr=0.003)
for walk in range(4):
    one, other = photos + 0.3 * mt.randn(12, 10), photos + 0.3 * mt.randn(12, 10)
    z = F.normalize(looking(mt.cat([one, other])), dim=1)
    sim = z @ z.T / 0.5
    loss = F.cross_entropy(sim, partner)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
