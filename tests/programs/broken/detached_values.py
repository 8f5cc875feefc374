import microtape as mt

mt.manual_seed(0)
actor, critic = mt.nn.Linear(3, 2), mt.nn.Linear(3, 1)
optimizer = mt.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for episode in range(3):
    states, moves, returns = mt.randn(10, 3), mt.randint(0, 2, (10,)), mt.randn(10)
    chosen = actor(states).log_softmax(-1)[mt.arange(10), moves]
    values = critic(states)
    advantage = returns - values.detach()
    loss = mt.nn.functional.mse_loss(values.squeeze(1), returns) - (chosen * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
