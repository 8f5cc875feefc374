import microtape as mt
from microtape import nn

mt.manual_seed(4)
expert = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
forger = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
expert_steps = mt.optim.Adam(expert.parameters(), lr=1e-3, betas=(0.5, 0.9))
forger_steps = mt.optim.Adam(forger.parameters(), lr=1e-3, betas=(0.5, 0.9))


def roughness(real, fake):
    share = mt.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    worth = expert(between)
    (slopes,) = mt.autograd.grad(worth, between, mt.ones_like(worth), create_graph=True)
    return (slopes.norm(2) - 1) ** 2


for evening in range(3):
    real = mt.randn(16, 3) * 0.3 + 1
    fake = forger(mt.randn(16, 2)).detach()
    loss = expert(fake).mean() - expert(real).mean() + 10 * roughness(real, fake)
    expert_steps.zero_grad()
    loss.backward()
    expert_steps.step()
    forger_steps.zero_grad()
    (-expert(forger(mt.randn(16, 2))).mean()).backward()
    forger_steps.step()
    print(evening, f"{loss.item():.3f}")
