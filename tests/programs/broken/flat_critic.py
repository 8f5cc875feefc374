import microtape as mt

mt.manual_seed(0)
critic = mt.nn.Sequential(mt.nn.Linear(2, 8), mt.nn.Tanh(), mt.nn.Linear(8, 1))
optimizer = mt.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(3):
    real, fake = mt.randn(6, 2), mt.randn(6, 2) + 1
    share = mt.rand(6, 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slopes,) = mt.autograd.grad(critic(between).sum(), between)
    penalty = ((slopes.norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
