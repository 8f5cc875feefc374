import microtape as mt

inputs = mt.tensor([0.6, 0.2, 0.9, 0.7, 0.1, 0.8])
wanted = 3.0
weight = mt.tensor(0.5, requires_grad=True)
threshold = mt.tensor(0.8, requires_grad=True)

for trial in range(3):
    voltage, spikes, residue = mt.tensor(0.0), mt.tensor(0.0), mt.tensor(0.0)
    for current in inputs:
        voltage = 0.9 * voltage + weight * current
        spike = (voltage > threshold).float()
        voltage = voltage * (1 - spike)
        spikes = spikes + spike
    loss = (spikes - wanted) ** 2 + 0.1 * voltage**2
    loss.backward()
    with mt.no_grad():
        for p in (weight, threshold):
            p -= 0.1 * p.grad
            p.grad = None
    print(trial, loss.item())
