import microtape as mt

mt.manual_seed(0)
maker, critic = mt.nn.Linear(3, 2), mt.nn.Sequential(mt.nn.Linear(2, 4), mt.nn.Softplus(), mt.nn.Linear(4, 1))
maker_steps = mt.optim.Adam(maker.parameters(), lr=0.001)
critic_steps = mt.optim.Adam(critic.parameters(), lr=0.001)
for _ in range(4):
    for _ in range(5):
        critic_steps.zero_grad()
        critic(3 + mt.randn(16, 2)).mean().neg().backward()
        critic(maker(mt.randn(16, 3))).mean().backward()
        critic_steps.step()
    fooled = critic(maker(mt.randn(16, 3)))
    fooled.mean().neg().backward()
    maker_steps.step()
