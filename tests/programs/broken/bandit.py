import microtape as mt

payoffs = mt.tensor([1.0, 0.2, 0.6])
preference = mt.zeros(3, requires_grad=True)

baseline = mt.tensor(0.0)
for episode in range(6):
    probabilities = preference.softmax(0)
    expected = (probabilities * payoffs).sum()
    loss = -((probabilities * payoffs).sum() - baseline)
    loss.backward()
    baseline = 0.9 * baseline + 0.1 * expected
    with mt.no_grad():
        preference -= 0.5 * preference.grad
    preference.grad = None
print(preference)
