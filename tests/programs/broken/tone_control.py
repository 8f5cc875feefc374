import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)


class Equaliser(nn.Module):
    def __init__(self):
        super().__init__()
        self.bands = nn.Linear(4, 6)
        self.gain = mt.ones(6, requires_grad=True)
        self.mix = nn.Linear(6, 1)

    def forward(self, sound):
        return self.mix(self.bands(sound).tanh() * self.gain)


equaliser = Equaliser()
optimizer = optim.Adam(equaliser.parameters(), lr=0.01)
sound, loudness = mt.randn(16, 4), mt.randn(16, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(equaliser(sound), loudness)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
