import microtape as mt
from microtape import nn

mt.manual_seed(0)
encoder, prior, decoder = nn.Linear(6, 2), nn.Linear(3, 2), nn.Linear(2, 6)
optimizer = mt.optim.Adam([*encoder.parameters(), *prior.parameters(), *decoder.parameters()], lr=0.01)
for evening in range(3):
    lights, hour = mt.randn(16, 6), mt.randn(16, 3)
    mean = encoder(lights)
    code = mean + 0.1 * mt.randn(16, 2)
    divergence = (mean - prior(hour)).square().sum(1).mean() / 2
    free_bits = 30.0
    loss = nn.functional.mse_loss(decoder(code), lights) + mt.maximum(divergence, mt.tensor(free_bits))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
