import microtape as mt
from microtape import nn

mt.manual_seed(0)
days = mt.randn(48, 3)
tickets = days @ mt.tensor([[2.0], [-1.0], [0.5]]) + 0.1 * mt.randn(48, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.02)


class Loop:
    """Adds up the gradients of two batches; the step of the second one computes them in its closure."""

    every = 2

    def run(self, number, x, y):
        def closure():
            loss = nn.functional.mse_loss(model(x), y) / self.every
            loss.backward()
            return loss

        return optimizer.step(closure) if (number + 1) % self.every == 0 else closure()


loop = Loop()
for epoch in range(3):
    for number, (x, y) in enumerate(zip(days.split(8), tickets.split(8))):
        loss = loop.run(number, x, y)
print(loss.item())
