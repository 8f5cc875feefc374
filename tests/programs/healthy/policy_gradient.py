import microtape as mt

payoffs = mt.tensor([1.0, 0.2, 0.6])
preference = mt.zeros(3, requires_grad=True)
value = mt.tensor(0.0, requires_grad=True)

for episode, action in enumerate([0, 1, 2, 0, 2, 0]):
    log_p = preference.log_softmax(0)[action]
    advantage = payoffs[action] - value
    loss = -log_p * advantage.detach() + advantage**2
    loss.backward()
    with mt.no_grad():
        for p in (preference, value):
            p -= 0.3 * p.grad
            p.grad = None
print(preference.softmax(0), value)
