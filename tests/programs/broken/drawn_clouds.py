import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
encode, decode = nn.Linear(6, 4), nn.Linear(2, 6)
optimizer = optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3)
skies = mt.rand(16, 6)
for _ in range(3):
    mean, spread = encode(skies).chunk(2, dim=1)
    z = mt.normal(mean, spread.exp())
    loss = nn.functional.mse_loss(decode(z), skies)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
